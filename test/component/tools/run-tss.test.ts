/** `npm run tss`, `npm start` and the others start fast, and never run a program that is older than its sources. */
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";

const ROOT = path.resolve(import.meta.dirname, "../../..");
let checkout: string;

beforeEach(() => {
  checkout = mkdtempSync(path.join(tmpdir(), "checkout-"));
  write("src/cli/main.ts", "const says: string = 'the sources'; console.log(says);");
  write("src/client/sign.ts", "");
  for (const place of ["gen/proto/a.ts", "prisma/migrations/1/migration.sql", "move/treasury/compiled.json"])
    write(place, "");
  write("package-lock.json", "{}");
  write("package.json", '{ "type": "module" }');
  mkdirSync(path.join(checkout, "tools"));
  cpSync(path.join(ROOT, "tools/tss.mjs"), path.join(checkout, "tools/tss.mjs"));
  symlinkSync(path.join(ROOT, "node_modules"), path.join(checkout, "node_modules"));
});

afterEach(() => rmSync(checkout, { recursive: true }));

it("runs the compiled program if no source is newer", () => {
  build();
  expect(run()).toBe("the compiled program");
});

it.each(["src/client/sign.ts", "gen/proto/a.ts", "prisma/migrations/1/migration.sql"])(
  "runs the sources after a change of %s",
  (file) => {
    build();
    changeLater(file);
    expect(run()).toBe("the sources");
  },
);

it("runs the sources after a source was removed", () => {
  build();
  rmSync(path.join(checkout, "src/client/sign.ts"));
  changeLater("src/client");
  expect(run()).toBe("the sources");
});

it("runs the sources if nothing was compiled, or if the build did not end", () => {
  expect(run()).toBe("the sources");
  write("dist/src/cli/main.js", "console.log('the compiled program');");
  expect(run()).toBe("the sources");
});

function write(place: string, text: string): void {
  const file = path.join(checkout, place);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
}

function build(): void {
  write("dist/src/cli/main.js", "console.log('the compiled program');");
  write("dist/build.json", "{}");
}

/** Sets the time of a change after that of the build, whatever the file system's resolution. */
function changeLater(place: string): void {
  const later = new Date(Date.now() + 60_000);
  utimesSync(path.join(checkout, place), later, later);
}

function run(): string {
  return execFileSync(process.execPath, ["tools/tss.mjs"], { cwd: checkout, encoding: "utf8" }).trim();
}
