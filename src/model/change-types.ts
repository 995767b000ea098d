/** What can happen, by the word that history, events and their filters have for it. What each of them says is in core/change.ts. */
export const changeTypes = [
  ...(['workflow-registered', 'workflow-moved', 'workflow-closed', 'workflow-stopping'] as const),
  ...(['workflow-halt-mode', 'workflow-concurrency'] as const),
  ...(['tasks-added', 'tasks-activated', 'tasks-aborted', 'tasks-grouped', 'task-changed'] as const),
  ...(['edges-added', 'edge-removed'] as const),
  ...(['attempt-recorded', 'attempt-started', 'attempt-ended'] as const),
  ...([
    'worker-joined',
    'worker-gone',
    'worker-patience',
    'worker-resized',
    'worker-refitted',
    'worker-barred',
  ] as const),
  ...(['need-adjusted', 'need-refused', 'limit-set'] as const),
] as const;
export type ChangeType = (typeof changeTypes)[number];
