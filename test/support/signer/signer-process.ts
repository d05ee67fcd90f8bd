import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import type { DevelopmentAccess } from "../../../src/cli/connections/development-file.ts";
import { passphraseSeal } from "../../../src/signer/seals/passphrase-seal.ts";
import { createKeyFile } from "../../../src/signer/store/file-key-store.ts";
import { runTss } from "../service/service.ts";

export const SIGNER_TOKEN = "0123456789abcdef0123456789abcdef01234567";
export const SIGNER_PASSPHRASE = "the passphrase of a test's key file";

/** A folder with a signer's key file and secrets. */
export interface SignerFolder {
  readonly folder: string;
  readonly keyFile: string;
  readonly socket: string;
  /** The variables of a signer of this service. */
  environment(access: Pick<DevelopmentAccess, "baseUrl" | "apiKey">): Record<string, string>;
  remove(): void;
}

/** Makes a folder with an empty key file, whose passphrase is cheap to check. */
export async function signerFolder(): Promise<SignerFolder> {
  const folder = mkdtempSync(path.join(tmpdir(), "tss-signer-"));
  const at = (name: string) => path.join(folder, name);
  const keyFile = at("keys.sealed");
  await createKeyFile(keyFile, passphraseSeal(SIGNER_PASSPHRASE, 4));
  mkdirSync(at("secrets"));
  writeFileSync(at("secrets/passphrase"), `${SIGNER_PASSPHRASE}\n`, { mode: 0o600 });
  writeFileSync(at("secrets/token"), `${SIGNER_TOKEN}\n`, { mode: 0o600 });
  return {
    folder,
    keyFile,
    socket: at("signer.sock"),
    environment({ baseUrl, apiKey }) {
      writeFileSync(at("secrets/api-key"), `${apiKey}\n`, { mode: 0o600 });
      return {
        SIGNER_STORE: keyFile,
        SIGNER_PASSPHRASE_FILE: at("secrets/passphrase"),
        SIGNER_SOCKET: at("signer.sock"),
        SIGNER_PORT: "0",
        SIGNER_TOKEN_FILE: at("secrets/token"),
        SIGNER_SERVICE_URL: baseUrl,
        SIGNER_API_KEY_FILE: at("secrets/api-key"),
        SIGNER_NETWORK: "localnet",
        LOG_LEVEL: "debug",
      };
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** A signer in its own process. */
export interface SignerProcess {
  /** The URL of its port. */
  readonly url: string;
  /** The lines of its log and of its output. */
  readonly log: readonly string[];
  /** Sends SIGHUP, and waits for a line of the log with this text. */
  reload(text: string): Promise<void>;
  /** SIGKILL, then waits until the process is gone. */
  kill(): Promise<void>;
  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>;
}

/** Starts `tss signer serve` and waits until it listens on its socket and its port. */
export async function startSignerProcess(environment: Record<string, string>): Promise<SignerProcess> {
  const child = runTss(["signer", "serve"], environment);
  const log: string[] = [];
  const lines = createInterface({ input: child.stderr! }).on("line", (line) => log.push(line));
  const exited = once(child, "exit") as Promise<[number | null]>;
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout! }).on("line", (line) => {
      log.push(line);
      const [, found] = /^ready at (http\S+)$/.exec(line) ?? [];
      if (found) resolve(found);
    });
    void exited.then(([code]) => reject(new Error(`the signer ended with ${code}:\n${log.join("\n")}`)));
  });
  return {
    url,
    log,
    async reload(text) {
      const told = new Promise<void>((resolve) => {
        lines.on("line", (line) => line.includes(text) && resolve());
      });
      child.kill("SIGHUP");
      await told;
    },
    async kill() {
      child.kill("SIGKILL");
      await exited;
    },
    async stop() {
      child.kill("SIGTERM");
      return (await exited)[0];
    },
  };
}
