/** Words that say nothing about what a text is about; left out of the lexical fields and of queries. */

/** Lower-case, unstemmed; the list the figures of the retrieval design were measured with. */
const ENGLISH =
  'a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to was will with ' +
  'i you he she we my your did do does what when where who how which has have had';
const CHINESE = '的 了 是 在 我 你 他 她 吗 呢 什么 和 也 就 都 啊 吧';

export const STOP_WORDS: ReadonlySet<string> = new Set(`${ENGLISH} ${CHINESE}`.split(' '));
