// In a checkout, Node's worker reads TypeScript through tsx, which registers on the thread that calls it.
import { register } from "tsx/esm/api";

register();
await import("./engine-worker.ts");
