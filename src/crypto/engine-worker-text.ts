/**
 * The program of a worker, `engine-worker.ts` with all that it imports, as one script. The build writes it here; run from
 * source there is none.
 */
export const ENGINE_WORKER_TEXT: string | undefined = undefined;
