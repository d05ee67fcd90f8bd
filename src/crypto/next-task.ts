/** Resolves in a new task. A message channel has no delay; browsers add milliseconds to nested timers. */
export function nextTask(): Promise<void> {
  // React Native has no message channels.
  if (typeof MessageChannel === "undefined") return new Promise((resolve) => void setTimeout(resolve, 0));
  const { port1, port2 } = new MessageChannel();
  return new Promise((resolve) => {
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });
}
