/** Readings of a text for the detectors, each with the way back to the offsets of the text as it stands. */

/** A reading. Without `starts` its offsets are the text's own; with `whole` any finding stands for that part of the text. */
export interface View {
  readonly text: string;
  readonly starts?: Int32Array;
  readonly ends?: Int32Array;
  readonly whole?: { readonly start: number; readonly end: number };
}

/** Range of the original text that a range of the view stands for. */
export function originalRange(view: View, start: number, end: number): { readonly start: number; readonly end: number } {
  if (view.whole !== undefined) return view.whole;
  if (view.starts === undefined || view.ends === undefined) return { start, end };
  return { start: view.starts[start] ?? 0, end: view.ends[Math.max(start, end - 1)] ?? 0 };
}

/** Builds a view piece by piece. */
export class ViewBuilder {
  readonly #parts: string[] = [];
  readonly #starts: Int32Array;
  readonly #ends: Int32Array;
  #length = 0;

  constructor(capacity: number) {
    this.#starts = new Int32Array(capacity);
    this.#ends = new Int32Array(capacity);
  }

  /** `text` stands for the original's [start, end), each of its characters for all of it. */
  add(text: string, start: number, end: number): void {
    this.#parts.push(text);
    for (let i = 0; i < text.length && this.#length < this.#starts.length; i++) {
      this.#starts[this.#length] = start;
      this.#ends[this.#length++] = end;
    }
  }

  /** Original text as it is. */
  copy(original: string, start: number, end: number): void {
    this.#parts.push(original.slice(start, end));
    for (let i = start; i < end && this.#length < this.#starts.length; i++) {
      this.#starts[this.#length] = i;
      this.#ends[this.#length++] = i + 1;
    }
  }

  /** `over`: the view that the ranges are of, when the original is itself a reading. */
  view(over?: View): View {
    const text = this.#parts.join('').slice(0, this.#length);
    if (over !== undefined && (over.starts !== undefined || over.whole !== undefined))
      for (let i = 0; i < this.#length; i++) {
        const range = originalRange(over, this.#starts[i] ?? 0, this.#ends[i] ?? 0);
        this.#starts[i] = range.start;
        this.#ends[i] = range.end;
      }
    return { text, starts: this.#starts.subarray(0, this.#length), ends: this.#ends.subarray(0, this.#length) };
  }
}
