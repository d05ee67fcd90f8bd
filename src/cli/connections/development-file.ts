import { readFile } from "node:fs/promises";
import path from "node:path";
import type { Network } from "../../client/sdk/names.ts";

/** Reads the file. Returns undefined while it is absent or incomplete. */
export async function readDevelopmentFile(dataDirectory: string): Promise<DevelopmentAccess | undefined> {
  try {
    return JSON.parse(await readFile(path.join(dataDirectory, "dev.json"), "utf8")) as DevelopmentAccess;
  } catch {
    return undefined;
  }
}

/** The contents of `dev.json`, which a service on embedded defaults writes to its data folder when it is ready. */
export interface DevelopmentAccess {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly adminApiKey: string;
  readonly network: Network;
  readonly fullnodeUrl: string;
}
