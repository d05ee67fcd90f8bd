#!/usr/bin/env node
// The target of `PRISMA_SCHEMA_ENGINE_BINARY` (see prisma.config.ts). The Prisma command line starts it as a program,
// so it must be an executable file; the engine itself is TypeScript.
import { register } from "tsx/esm/api";

register();
await import("./schema-engine/main.ts");
