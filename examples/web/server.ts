/** Serves the page with its backend. README.md says how to run it. */
import { createBackend } from "./backend.ts";
import { servePage } from "./serve-page.ts";

await servePage(import.meta.dirname, createBackend);
