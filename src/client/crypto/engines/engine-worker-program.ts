/**
 * The program of a worker. In a checkout it is the URL of a module that Node runs. The build replaces this module: there
 * the value is the text of one script, `engine-worker.ts` with all its imports. The package therefore has no
 * `import.meta`, and its workers need no file and no support of a bundler.
 */
export const ENGINE_WORKER_PROGRAM: URL | string = new URL(
  "./engine-worker-from-source.mjs",
  import.meta.url,
);
