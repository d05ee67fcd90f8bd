import { readFileSync } from "node:fs";
import type { Config } from "../config/config.ts";
import type { TlsOptions } from "../transport/split-connections.ts";

/** Reads the configured certificate and its key. Throws if a file cannot be read. */
export function readTls({ certificateFile, keyFile }: NonNullable<Config["tls"]>): TlsOptions {
  return { certificatePem: readFileSync(certificateFile, "utf8"), keyPem: readFileSync(keyFile, "utf8") };
}
