/** Kinds of seeds: most are drawn from everything, some are about one kind of trouble that seldom comes together by chance. */
export type SeedKind =
  | 'usual'
  /** Hundreds of workers. */
  | 'large'
  /** One node fails all tasks, and people meddle with what becomes of them. */
  | 'sick'
  /** Workers come after a backup was made, which is restored while one of them is away with long tasks. */
  | 'forgotten'
  /** What a worker says of its ends comes when it was given up, and its tasks are tried again. */
  | 'late';

/** Two in a hundred are large: at an odd distance, so that two jobs which take turns have as many of them each. */
export function kindOf(seed: number): SeedKind {
  if (seed % 49 === 7) return 'large';
  switch (seed % 16) {
    case 3:
      return 'sick';
    case 10:
      return 'late';
    case 11:
      return 'forgotten';
    default:
      return 'usual';
  }
}
