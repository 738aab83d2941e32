/** The registry: every operation once, in the order in which tools and routes are listed. */
import type { AnyOperation } from './define.ts';
import { memoryAudit } from './memory-audit.ts';
import { memoryAuditVerify } from './memory-audit-verify.ts';
import { memoryCollect } from './memory-collect.ts';
import { memoryContext } from './memory-context.ts';
import { memoryConfirm } from './memory-confirm.ts';
import { memoryConfirmations } from './memory-confirmations.ts';
import { memoryExport } from './memory-export.ts';
import { memoryFeedback } from './memory-feedback.ts';
import { memoryForget } from './memory-forget.ts';
import { memoryGet } from './memory-get.ts';
import { memoryHistory } from './memory-history.ts';
import { memoryInstructions } from './memory-instructions.ts';
import { memoryImport } from './memory-import.ts';
import { memoryKeysDelete } from './memory-keys-delete.ts';
import { memoryList } from './memory-list.ts';
import { memoryNamespace } from './memory-namespace.ts';
import { memoryQuarantine } from './memory-quarantine.ts';
import { memoryRecallTrace } from './memory-recall-trace.ts';
import { memoryRelease } from './memory-release.ts';
import { memoryRestore } from './memory-restore.ts';
import { memoryReveal } from './memory-reveal.ts';
import { memorySearch } from './memory-search.ts';
import { memoryState } from './memory-state.ts';
import { memoryStateSet } from './memory-state-set.ts';
import { memoryStats } from './memory-stats.ts';
import { memoryTurns } from './memory-turns.ts';
import { memoryTurnsAdd } from './memory-turns-add.ts';
import { memorySummarize } from './memory-summarize.ts';
import { memoryUpdate } from './memory-update.ts';
import { memoryWrite } from './memory-write.ts';

export const operations: readonly AnyOperation[] = Object.freeze([
  memoryWrite,
  memorySearch,
  memoryContext,
  memoryGet,
  memoryList,
  memoryUpdate,
  memoryHistory,
  memoryRestore,
  memoryForget,
  memoryFeedback,
  memoryTurnsAdd,
  memoryTurns,
  memoryStateSet,
  memoryState,
  memorySummarize,
  memoryConfirmations,
  memoryConfirm,
  memoryQuarantine,
  memoryRelease,
  memoryReveal,
  memoryNamespace,
  memoryCollect,
  memoryStats,
  memoryExport,
  memoryImport,
  memoryAudit,
  memoryAuditVerify,
  memoryRecallTrace,
  memoryInstructions,
  memoryKeysDelete,
]);
