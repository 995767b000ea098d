/** Cells of the decision tables that nobody can reach through the shells, with the reason. */
export const unreachable: readonly RegExp[] = [
  // Nobody here adds continuations to tasks that exist.
  /^task\.\w+\.acquire$/,
  // The simulated workers over HTTP take the next ones, not those that they name.
  /^task\.(?!queued)\w+\.claim$/,
  // Done to all tasks of a workflow at once, without asking the table of each.
  /^task\.\w+\.(activate|abort)$/,
  // Given by the controller in one state only.
  /^task\.(?!waiting)\w+\.satisfy$/,
  /^task\.(?!queued)\w+\.(launch|complete)$/,
  /^task\.(?!triaging|cancelled|queued|running|done|failed)\w+\.triage$/,
  /^workflow\.(?!queued)\w+\.admit$/,
  /^workflow\.(?!instantiating)\w+\.instantiate$/,
  /^workflow\.(?!launched)\w+\.schedule$/,
  /^workflow\.(?!running|halting)\w+\.(finish|fail-fast)$/,
  /^workflow\.(?!halting)\w+\.settle$/,
  /^attempt\.(?!recorded)\w+\.send$/,
  /^attempt\.(?!sent)\w+\.doubt$/,
  // Adjusted in the turn in which it ran out, so that nothing else can come between.
  /^task\.adjusting\.(?!adjust)/,
  /^task\.(?!adjusting)\w+\.adjust$/,
  // Passed within one decision, so that nothing else can come between.
  /^workflow\.launched\.(?!schedule)/,
  // Only an attempt that is live, or lost and not repeated yet, is heard of: its task is with a worker, or queued.
  /^task\.(registering|waiting|queued|triaging|done|failed|cancelled|aborted|running)\.start$/,
  /^task\.(registering|waiting|triaging|done|failed|cancelled|aborted)\.end$/,
  // A workflow that is done has no task that could be tried again; one that was aborted refuses each of them.
  /^workflow\.(done|aborted)\.reopen$/,
  /^task\.aborted\.reinstate$/,
  // Forgiven is what failed on a worker: it was registered as a whole.
  /^task\.(registering|aborted)\.forgive$/,
  // A worker tells of its starts after it has accepted them, on the same link or when it is asked anew.
  /^attempt\.sent\.start$/,
  // Asked of those alone that have not ended.
  /^attempt\.ended\.accept$/,
];
