/**
 * Runs before the tests of this folder: copies their protos into the layout of a client of the service, and compiles
 * them into an image (a serialized `FileDescriptorSet`), in a temporary folder.
 */
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { TestProject } from "vitest/node";
import { ROOT } from "../support/repository/source-files.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The folder of the protos, each at its import path. */
    protoFolder: string;
    /** The compiled protos. */
    protoImage: string;
  }
}

export default function setup(project: TestProject): () => void {
  const folder = mkdtempSync(path.join(tmpdir(), "interop-"));
  for (const part of ["google", "grpc"]) {
    cpSync(path.join(ROOT, "third_party", part), path.join(folder, part), { recursive: true });
  }
  cpSync(path.join(import.meta.dirname, "testing.proto"), path.join(folder, "tss/testing/v1/testing.proto"));
  const image = path.join(folder, "image.binpb");
  execFileSync(path.join(ROOT, "node_modules/.bin/buf"), ["build", folder, "-o", image], { stdio: "pipe" });
  project.provide("protoFolder", folder);
  project.provide("protoImage", image);
  return () => rmSync(folder, { recursive: true });
}
