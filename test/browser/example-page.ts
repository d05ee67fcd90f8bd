/** The pages of `examples`: their programs, and what a page in Chromium holds and sends. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import type { Page, Request, Response } from "playwright-core";
import { expect } from "vitest";
import type { DevelopmentAccess } from "../../src/cli/connections/development-file.ts";
import { programEnvironment } from "../support/environment.ts";
import { documentedCommands } from "../support/repository/documented-commands.ts";
import { ROOT } from "../support/repository/source-files.ts";

/** The running program of an example. */
export interface ExampleProgram {
  /** The URL that it has printed. */
  readonly url: string;
  stop(): void;
}

/**
 * Starts the program that a README names, in a folder with the file that a service leaves for its developers.
 * @param name a part of the program's name
 */
export async function startExampleProgram(
  readme: string,
  access: DevelopmentAccess,
  name = "/server.ts",
): Promise<ExampleProgram> {
  const folder = mkdtempSync(path.join(tmpdir(), "tss-example-"));
  mkdirSync(path.join(folder, ".data"));
  writeFileSync(path.join(folder, ".data/dev.json"), JSON.stringify(access));
  const commands = documentedCommands(readme).map(({ text }) => text.split(" "));
  const [, , program] = commands.find(([, tsx, file]) => tsx === "tsx" && file?.endsWith(name))!;
  const child = spawn(path.join(ROOT, "node_modules/.bin/tsx"), [path.join(ROOT, program!)], {
    cwd: folder,
    env: { ...programEnvironment, NO_COLOR: "1", PORT: "0", PROVIDER_PORT: "0" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const stop = () => {
    child.kill();
    rmSync(folder, { recursive: true });
  };
  try {
    return { url: await printedUrl(child), stop };
  } catch (error) {
    stop();
    throw error;
  }
}

/** What happens on a page. */
export interface Visit {
  /** Errors of the page, and what its content security policy has refused. */
  readonly faults: readonly string[];
  /** What the page has sent and received. */
  traffic(): Promise<string[]>;
}

/** Records what happens on a page. */
export function visit(page: Page): Visit {
  const traffic: Promise<string>[] = [];
  const faults: string[] = [];
  page.setDefaultTimeout(100_000);
  page.context().on("request", (request) => void traffic.push(sentBy(request)));
  page.context().on("response", (response) => void traffic.push(receivedBy(response)));
  page.on("pageerror", (error) => void faults.push(String(error)));
  page.on("console", (line) => {
    if (line.text().includes("Content Security Policy")) faults.push(line.text());
  });
  return { faults, traffic: () => Promise.all(traffic) };
}

/** Returns those secrets of the project and the operator, with or without their prefix, that are in a text. */
export function keysIn(
  texts: readonly string[],
  { apiKey, adminApiKey }: Pick<DevelopmentAccess, "apiKey" | "adminApiKey">,
): string[] {
  const secrets = [apiKey, adminApiKey].map((key) => key.replace(/^tss_[a-z]+_/, ""));
  expect(secrets.every((secret) => secret.length >= 32)).toBe(true);
  return secrets.filter((secret) => texts.some((text) => text.includes(secret)));
}

/** Waits until the page shows a value under this name, or an error. */
export async function factOn(page: Page, name: string): Promise<string> {
  const value = page.locator(`dt:text-is("${name}") + dd`);
  const alert = page.getByRole("alert").filter({ hasText: /./ });
  await value.or(alert).first().waitFor();
  expect(await alert.allTextContents()).toEqual([]);
  return (await value.textContent()) ?? "";
}

/** Returns all strings of the page's heap, as Chromium's own snapshot has them. */
export async function readMemory(page: Page): Promise<string> {
  const devtools = await page.context().newCDPSession(page);
  const chunks: string[] = [];
  devtools.on("HeapProfiler.addHeapSnapshotChunk", ({ chunk }) => void chunks.push(chunk));
  await devtools.send("HeapProfiler.takeHeapSnapshot");
  return chunks.join("");
}

/** Returns the names, keys and values of all databases of the page. */
export async function readDatabases(page: Page): Promise<string> {
  return await page.evaluate<string>(READ_DATABASES);
}

/** Runs in the page. */
const READ_DATABASES = `(async () => {
  const settled = (request) => new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  const found = [];
  for (const { name } of await indexedDB.databases()) {
    const database = await settled(indexedDB.open(name));
    for (const store of database.objectStoreNames) {
      const values = database.transaction(store).objectStore(store);
      const [keys, all] = [settled(values.getAllKeys()), settled(values.getAll())];
      found.push(name, store, await keys, await all);
    }
    database.close();
  }
  return JSON.stringify(found, (_, value) => (value instanceof CryptoKey ? String(value) : value));
})()`;

async function sentBy(request: Request): Promise<string> {
  const body = request.postDataBuffer()?.toString("latin1") ?? "";
  return `${request.url()}\n${JSON.stringify(await request.allHeaders())}\n${body}`;
}

/** Returns the head and the body of a reply; the head alone if the page has left the reply. */
async function receivedBy(response: Response): Promise<string> {
  const body = await response.body().catch(() => Buffer.alloc(0));
  return `${JSON.stringify(await response.allHeaders())}\n${body.toString("latin1")}`;
}

/** Returns the URL that the program prints. Rejects if the program ends first. */
async function printedUrl(program: ChildProcess): Promise<string> {
  const exited = once(program, "exit").then(([code]) => {
    throw new Error(`the example ended with ${code}`);
  });
  const found = new Promise<string>((resolve) => {
    createInterface({ input: program.stdout! }).on("line", (line) => {
      const [printed] = /http:\/\/\S+/.exec(line) ?? [];
      if (printed !== undefined) resolve(printed);
    });
  });
  return await Promise.race([found, exited]);
}
