import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Keypair } from "@mysten/sui/cryptography";
import { type CliResult, runCli } from "./run-cli.ts";

/** Runs `tss treasury` as an operator does: with key files in its own folder, against one local network. */
export function treasuryOperator(fullnodeUrl: string): TreasuryOperatorShell {
  const folder = mkdtempSync(path.join(tmpdir(), "treasury-"));
  const environment = { LOCALNET_URL: fullnodeUrl };
  const file = (name: string) => path.join(folder, name);
  const tss = (...words: readonly string[]) => runCli(["treasury", ...words], environment);
  let count = 0;
  return {
    environment,
    file,
    tss,
    keyFile(key, text = key.getSecretKey()) {
      count += 1;
      writeFileSync(file(`${count}.key`), text, { mode: 0o600 });
      return file(`${count}.key`);
    },
    async done(...words) {
      const { exitCode, out, err } = await tss(...words);
      if (exitCode !== 0)
        throw new Error(`tss treasury ${words.join(" ")} ended with ${exitCode}:\n${out}\n${err}`);
      return out;
    },
    async refused(...words) {
      const { exitCode, err, out } = await tss(...words);
      if (exitCode === 0) throw new Error(`tss treasury ${words.join(" ")} was not refused:\n${out}`);
      return err;
    },
    remove: () => rmSync(folder, { recursive: true }),
  };
}

export interface TreasuryOperatorShell {
  readonly environment: Readonly<Record<string, string>>;
  file(name: string): string;
  /** Writes a private key to a file that only its owner can read. @param text default: Sui's own format */
  keyFile(key: Keypair, text?: string): string;
  tss(...words: readonly string[]): Promise<CliResult>;
  /** Runs a command that must succeed and returns its output. */
  done(...words: readonly string[]): Promise<string>;
  /** Runs a command that must be refused, and returns its error. */
  refused(...words: readonly string[]): Promise<string>;
  remove(): void;
}

/** Returns the value after a name in the output. */
export function shownAs(out: string, name: string): string {
  const found = new RegExp(`^\\s*${name}[ =]+(\\S+?),?$|^\\s*${name}[ =]+(\\S+?),? `, "m").exec(out);
  if (found === null) throw new Error(`the output has no ${name}:\n${out}`);
  return found[1] ?? found[2] ?? "";
}
