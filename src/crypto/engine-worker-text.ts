/**
 * The program of a worker as one script: `engine-worker.ts` and all its imports. The build replaces this value; it is
 * undefined when the code runs from source.
 */
export const ENGINE_WORKER_TEXT: string | undefined = undefined;
