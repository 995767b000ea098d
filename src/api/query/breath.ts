/** Lets everything else that waits have its turn: long reads go in pieces, with one of these between them. */
export const breath = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
