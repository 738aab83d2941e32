/** The estimate of tokens that budgets are counted in, against the tokenizers of the built-in models. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as tokenizers from '@huggingface/tokenizers';
import { expect } from 'chai';
import { promptTokens } from '../../src/memory/context/tokens.ts';
import { testModelsDir } from './embedding-provider-models.ts';

interface Tokenizer {
  encode(text: string): { readonly ids: readonly number[] };
}
/** The package's own types import each other without extensions, which NodeNext cannot follow. */
const { Tokenizer } = tokenizers as unknown as { readonly Tokenizer: new (json: object, config: object) => Tokenizer };
const SPECIALS = { cls_token: '[CLS]', sep_token: '[SEP]', pad_token: '[PAD]', unk_token: '[UNK]' };
/** Written around every text. */
const ENDS = 2;

const LINES: Readonly<Record<'en' | 'zh', readonly string[]>> = {
  en: [
    '- Ana · morning drink: Ana prefers green tea in the morning and never drinks coffee. [said by the user, 2026-05-04, sure]',
    '- The release train leaves every second Tuesday; build 4711 failed because the disk of runner-3 was full. [noted by an agent, 2026-05-04]',
    '- ⟦ref 330f84db72d5 external 2026-11-30 01a22d05-2082-7003-976e-4afb69d7ec1c⟧Reviews praise the dinner at the market hall.⟦/ref 330f84db72d5⟧ [from a web page, 2026-11-30]',
    '- User: Could you remind me what we decided about the insurance of the warehouse, and who was going to call them?',
    '- Retrospective in April: the team agreed to write shorter design documents and to review them within two days. [said by the user, 2026-04-02]',
  ],
  zh: [
    '- 李明·过敏：李明对花生过敏，点餐时要避开花生酱。（用户说的，2026-05-04，确定）',
    '- 上次搬家用了两天，因为电梯坏了，家具只能从楼梯抬上去。（用户说的，2026-04-02，较确定）',
    '- ⟦ref 330f84db72d5 external 2026-11-30 01a22d05-2082-7003-976e-4afb69d7ec1c⟧网友推荐老城的面馆，晚上九点关门。⟦/ref 330f84db72d5⟧（来自网页，2026-11-30）',
    '- 用户：我们上周说好的仓库保险，是谁负责打电话来着？',
    '- 小王喜欢喝龙井茶，每天下午三点一杯，不加糖。（智能体记下，2026-05-04，不确定，2026-04-01之前为“小王喜欢喝咖啡”）',
  ],
};
const MODELS = { en: 'e5-small-v2-q-tokenizer.json', zh: 'bge-small-zh-v1.5-q-tokenizer.json' } as const;

describe('memory/context/tokens', () => {
  for (const lang of ['en', 'zh'] as const)
    it(`estimates lines of a block within 3 % below and 20 % above what the tokenizer counts (${lang})`, async function () {
      this.timeout(300_000);
      const json = JSON.parse(readFileSync(join(await testModelsDir(), MODELS[lang]), 'utf8')) as object;
      const tokenizer = new Tokenizer(json, SPECIALS);
      for (const line of LINES[lang]) {
        const counted = tokenizer.encode(line).ids.length - ENDS;
        expect(promptTokens(line) / counted, line).to.be.within(0.97, 1.2);
      }
    });

  it('counts line ends, and adds up to no less than the whole', () => {
    expect(promptTokens('')).to.equal(0);
    expect(promptTokens('a\nb')).to.equal(3);
    for (const lines of Object.values(LINES)) {
      const parts = lines.reduce((sum, line) => sum + promptTokens(`${line}\n`), 0);
      expect(promptTokens(lines.join('\n'))).to.be.at.most(parts);
    }
  });
});
