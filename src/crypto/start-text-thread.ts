import { nodeEngineThread, type StartEngineThread, webEngineThread } from "./engine-thread.ts";
import { nodeThreads } from "./node-threads.ts";

/** Starts workers from the text of a program. Needs no file and no bundler support. */
export function startTextThread(text: string): StartEngineThread {
  let url: string | undefined;
  return (events) => {
    const threads = nodeThreads();
    if (threads !== undefined) return nodeEngineThread(threads, text, events);
    url ??= URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
    const place = url;
    return webEngineThread(() => new Worker(place), events);
  };
}
