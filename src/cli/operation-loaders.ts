/**
 * Which operation answers to a command's name, each loaded for itself: the registry would bring the schemas of all of them (45 ms of a
 * cold call, measured). commands.ts asks here; a test holds it to the registry.
 */
import type { AnyOperation } from '../operations/define.ts';

type Load = () => Promise<AnyOperation>;

const search: Load = async () => (await import('../operations/memory-search.ts')).memorySearch;
const stats: Load = async () => (await import('../operations/memory-stats.ts')).memoryStats;
const summarize: Load = async () => (await import('../operations/memory-summarize.ts')).memorySummarize;
const write: Load = async () => (await import('../operations/memory-write.ts')).memoryWrite;

/** By name and alias of the command. */
export const OPERATION_LOADERS: ReadonlyMap<string, Load> = new Map<string, Load>([
  ['write', write],
  ['remember', write],
  ['search', search],
  ['recall', search],
  ['context', async () => (await import('../operations/memory-context.ts')).memoryContext],
  ['get', async () => (await import('../operations/memory-get.ts')).memoryGet],
  ['list', async () => (await import('../operations/memory-list.ts')).memoryList],
  ['update', async () => (await import('../operations/memory-update.ts')).memoryUpdate],
  ['history', async () => (await import('../operations/memory-history.ts')).memoryHistory],
  ['restore', async () => (await import('../operations/memory-restore.ts')).memoryRestore],
  ['feedback', async () => (await import('../operations/memory-feedback.ts')).memoryFeedback],
  ['forget', async () => (await import('../operations/memory-forget.ts')).memoryForget],
  ['confirmations', async () => (await import('../operations/memory-confirmations.ts')).memoryConfirmations],
  ['confirm', async () => (await import('../operations/memory-confirm.ts')).memoryConfirm],
  ['quarantine', async () => (await import('../operations/memory-quarantine.ts')).memoryQuarantine],
  ['release', async () => (await import('../operations/memory-release.ts')).memoryRelease],
  ['reveal', async () => (await import('../operations/memory-reveal.ts')).memoryReveal],
  ['namespace', async () => (await import('../operations/memory-namespace.ts')).memoryNamespace],
  ['collect', async () => (await import('../operations/memory-collect.ts')).memoryCollect],
  ['turns-add', async () => (await import('../operations/memory-turns-add.ts')).memoryTurnsAdd],
  ['turns', async () => (await import('../operations/memory-turns.ts')).memoryTurns],
  ['state-set', async () => (await import('../operations/memory-state-set.ts')).memoryStateSet],
  ['state', async () => (await import('../operations/memory-state.ts')).memoryState],
  ['summarize', summarize],
  ['summary', summarize],
  ['status', stats],
  ['stats', stats],
  ['audit', async () => (await import('../operations/memory-audit.ts')).memoryAudit],
  ['audit-verify', async () => (await import('../operations/memory-audit-verify.ts')).memoryAuditVerify],
  ['recall-trace', async () => (await import('../operations/memory-recall-trace.ts')).memoryRecallTrace],
  ['instructions', async () => (await import('../operations/memory-instructions.ts')).memoryInstructions],
]);
