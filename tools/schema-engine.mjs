#!/usr/bin/env node
// What `PRISMA_SCHEMA_ENGINE_BINARY` points at (see prisma.config.ts). The Prisma command line starts it as a program,
// so it must be a file that can be executed; the engine itself is TypeScript.
import { register } from "tsx/esm/api";

register();
await import("./schema-engine/main.ts");
