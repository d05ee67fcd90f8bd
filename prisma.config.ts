import path from "node:path";
import { defineConfig } from "prisma/config";

// Prisma's own engine is downloaded from a host of its own; ours runs the same engine as WebAssembly from npm.
process.env["PRISMA_SCHEMA_ENGINE_BINARY"] ??= path.join(import.meta.dirname, "tools/schema-engine.mjs");

export default defineConfig({
  schema: "prisma/schema.prisma",
  migrations: { path: "prisma/migrations" },
  datasource: {
    url: process.env["DATABASE_URL"] ?? "postgresql://postgres@127.0.0.1:5432/threshold_signing_service",
  },
});
