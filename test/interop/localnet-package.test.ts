/** The package of the local network in a folder where only it and its dependencies are installed. */
import { execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { installPacked } from "../support/repository/install-client.ts";
import { ROOT } from "../support/repository/source-files.ts";

const NAME = "threshold-signing-localnet";

describe("the package of the local network", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "localnet-package-"));
  const command = path.join(folder, "node_modules", NAME, "dist/src/localnet/main.js");
  let tarball: string;
  beforeAll(() => {
    writeFileSync(path.join(folder, "package.json"), '{ "type": "module" }');
    ({ tarball } = installPacked(folder, { script: "pack:localnet", name: NAME }));
    // It compiles the package first.
  }, 300_000);
  afterAll(() => rmSync(folder, { recursive: true }));

  it("contains no file of the service but the start of a thread, and none of the client", () => {
    const files = execFileSync("tar", ["-tzf", tarball]).toString().trim().split("\n");
    const others = files.filter((file) => /^package\/dist\/src\/(?!localnet\/|protocol\/)/.test(file));
    expect(others.sort()).toEqual([
      "package/dist/src/service/platform/threads/start-thread.d.ts",
      "package/dist/src/service/platform/threads/start-thread.js",
    ]);
    expect(files).toEqual(expect.arrayContaining(["package/LICENSE", "package/README.md"]));
  });

  it("runs the program of its README with the unmodified SDKs, and its faucet pays", async () => {
    const readme = readFileSync(path.join(ROOT, "tools/pack-localnet/README.md"), "utf8");
    const [, example = ""] = /```js\n([\s\S]*?)```/.exec(readme) ?? [];
    const steps = `
const { requestSuiFromFaucetV2 } = await import("@mysten/sui/faucet");
const recipient = "0x" + "ab".repeat(32);
const { coins_sent } = await requestSuiFromFaucetV2({ host: localnet.faucetUrl, recipient });
const { id } = await ikaClient.getLatestNetworkEncryptionKey();
console.log(JSON.stringify([coins_sent.length, id === localnet.networkEncryptionKeyId]));
`;
    writeFileSync(path.join(folder, "example.js"), example.replace("// ...\n", steps));
    const { stdout } = await promisify(execFile)(process.execPath, ["example.js"], { cwd: folder });
    expect(JSON.parse(stdout)).toEqual([2, true]);
  });

  it("has a command that prints the network's ids, stops at a signal, and refuses a wrong option", async () => {
    const child = spawn(process.execPath, [command, "--port", "0", "--faucet-port", "0"], { cwd: folder });
    let printed = "";
    for await (const chunk of child.stdout) {
      printed += chunk;
      if (printed.includes("hot wallet")) child.kill("SIGTERM");
    }
    if (child.exitCode === null) await once(child, "exit");
    expect(child.exitCode).toBe(0);
    expect(printed).toMatch(/^fullnode +http:\/\/127\.0\.0\.1:\d+$/m);
    expect(printed).toMatch(/^faucet +http:\/\/127\.0\.0\.1:\d+$/m);
    for (const [option, value, message] of [
      ["--port", "70000", "--port takes a number up to 65535"],
      ["--faucet-coins", "51", "--faucet-coins takes a number up to 50"],
      ["--faucet-coins", "0", "a faucet gives 1 to 50 coins"],
      ["--price", "sign=1", "--price takes <call>=<ika>,<sui>"],
      ["--speed", "9", "--speed"],
    ] as const) {
      const refused = promisify(execFile)(process.execPath, [command, option, value], { cwd: folder });
      await expect(refused).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining(message) });
    }
  });
});
