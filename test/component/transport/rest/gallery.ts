import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import {
  createFileRegistry,
  type DescMessage,
  type DescService,
  type FileRegistry,
  fromBinary,
} from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";

const { resolve } = createRequire(import.meta.url);

/** Compiles a proto that imports only Google's. */
export function compileProto(file: string): FileRegistry {
  const folder = mkdtempSync(path.join(tmpdir(), "proto-"));
  try {
    const google = path.dirname(resolve("google-proto-files/package.json"));
    mkdirSync(path.join(folder, "google/api"), { recursive: true });
    for (const name of ["annotations", "http", "httpbody"]) {
      cpSync(path.join(google, `google/api/${name}.proto`), path.join(folder, `google/api/${name}.proto`));
    }
    cpSync(file, path.join(folder, path.basename(file)));
    const buf = path.resolve(path.dirname(resolve("@bufbuild/buf/package.json")), "bin/buf");
    const image = execFileSync(process.execPath, [buf, "build", folder, "-o", "-#format=binpb"], {
      maxBuffer: 16 * 1024 * 1024,
    });
    return createFileRegistry(fromBinary(FileDescriptorSetSchema, image));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const registry = compileProto(path.join(import.meta.dirname, "gallery.proto"));

/** `test.gallery.v1.Gallery`: every form of a google.api.http rule. */
export const Gallery: DescService = found(registry.getService("test.gallery.v1.Gallery"));
/** A message with a field of every kind, including kinds that no parameter can set. */
export const Parameters: DescMessage = found(registry.getMessage("test.gallery.v1.Parameters"));

function found<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("the proto does not have it");
  return value;
}
