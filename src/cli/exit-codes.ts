/** Exit codes of the program, and what an answer of the service becomes: scripts decide by them. */
import type { Words } from './command-spec.ts';

export const EXIT = { ok: 0, failed: 1, usage: 2, notFound: 3, denied: 4, unavailable: 5, conflict: 6 } as const;

/** In the order of --help. */
export const EXIT_WORDS: readonly (readonly [code: number, words: Words])[] = [
  [EXIT.ok, { en: 'done', zh: '成功' }],
  [EXIT.failed, { en: 'failed, or nothing was stored', zh: '失败，或没有写入' }],
  [EXIT.usage, { en: 'wrong command line or request', zh: '命令行或请求有误' }],
  [EXIT.notFound, { en: 'no such memory', zh: '没有这条记忆' }],
  [EXIT.denied, { en: 'token missing, rejected or without the right', zh: '令牌缺失、被拒绝或权限不足' }],
  [EXIT.unavailable, { en: 'service or a part of it away; try again', zh: '服务或其组件暂不可用，请重试' }],
  [EXIT.conflict, { en: 'changed at the same time, or already running', zh: '同时被修改，或已在进行中' }],
];

/** By the status of a problem answer and its code. */
export function exitCodeOf(status: number, code: string | undefined): number {
  switch (status) {
    case 400:
    case 413:
    case 415:
    case 422:
      return EXIT.usage;
    case 401:
    case 403:
      return EXIT.denied;
    case 404:
      // a route that is not there means another kind or an older release of server
      return code === 'ERR_MEMORY_NOT_FOUND' ? EXIT.notFound : EXIT.failed;
    case 409:
    case 412:
      return EXIT.conflict;
    case 429:
    case 502:
    case 503:
    case 504:
      return EXIT.unavailable;
    default:
      return EXIT.failed;
  }
}
