import { parentPort } from "node:worker_threads";

export type TestJob =
  | { readonly kind: "answer"; readonly value: string }
  | { readonly kind: "refuse" }
  | { readonly kind: "die" }
  | { readonly kind: "hang" };

parentPort?.on("message", (job: TestJob) => {
  if (job.kind === "answer") parentPort?.postMessage({ result: job.value });
  if (job.kind === "refuse") parentPort?.postMessage({ failure: "it does not like the job" });
  if (job.kind === "die") throw new Error("out of luck");
});
