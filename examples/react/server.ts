/** Serves the page with the backend of `examples/web`. README.md says how to run it. */
import { createBackend } from "../web/backend.ts";
import { servePage } from "../web/serve-page.ts";

await servePage(import.meta.dirname, createBackend);
