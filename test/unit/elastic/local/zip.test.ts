/** Reading one file out of a jar. */
import { expect } from 'chai';
import fc from 'fast-check';
import { deflateRawSync } from 'node:zlib';
import { readZipEntry } from '../../../../src/elastic/local/zip.ts';

interface Entry {
  readonly name: string;
  readonly content: Buffer;
  readonly stored: boolean;
}

/** A zip archive written by hand after APPNOTE 4.3: local headers, central directory, end record. */
function zip(entries: readonly Entry[], comment = ''): Buffer {
  const parts: Buffer[] = [];
  const central: Buffer[] = [];
  let offset = 0;
  for (const { name, content, stored } of entries) {
    const packed = stored ? content : deflateRawSync(content);
    const nameBytes = Buffer.from(name);
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(nameBytes.length, 26);
    local.writeUInt16LE(4, 28); // an extra field that the central entry does not have
    const head = Buffer.alloc(46);
    head.writeUInt32LE(0x02014b50, 0);
    head.writeUInt16LE(stored ? 0 : 8, 10);
    head.writeUInt32LE(packed.length, 20);
    head.writeUInt32LE(content.length, 24);
    head.writeUInt16LE(nameBytes.length, 28);
    head.writeUInt32LE(offset, 42);
    parts.push(local, nameBytes, Buffer.alloc(4), packed);
    central.push(head, nameBytes);
    offset += 30 + nameBytes.length + 4 + packed.length;
  }
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(offset, 16);
  end.writeUInt16LE(comment.length, 20);
  return Buffer.concat([...parts, ...central, end, Buffer.from(comment)]);
}

describe('readZipEntry', () => {
  it('gives back every entry as it was, stored or deflated', () => {
    const entry = fc.record({
      name: fc.string({ minLength: 1, maxLength: 40 }),
      content: fc.uint8Array({ maxLength: 400 }).map((bytes) => Buffer.from(bytes)),
      stored: fc.boolean(),
    });
    const archives = fc.uniqueArray(entry, { selector: (one) => one.name, maxLength: 6 });
    fc.assert(
      fc.property(archives, fc.constantFrom('', 'a comment at the end'), (entries, comment) => {
        const archive = zip(entries, comment);
        for (const { name, content } of entries) expect(readZipEntry(archive, name)?.equals(content)).to.equal(true);
      }),
    );
  });

  it('is undefined for a name that is not in the archive', () => {
    expect(readZipEntry(zip([{ name: 'a', content: Buffer.from('x'), stored: true }]), 'b')).to.equal(undefined);
  });

  it('throws for a file cut short', () => {
    const archive = zip([{ name: 'a', content: Buffer.from('some text'), stored: false }]);
    expect(() => readZipEntry(archive.subarray(0, archive.length - 30), 'a')).to.throw();
    expect(() => readZipEntry(Buffer.from('not a zip'), 'a')).to.throw('no end record');
  });
});
