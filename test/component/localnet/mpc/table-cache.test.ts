import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fixedBaseFactors, tableSource } from "../../../../src/localnet/mpc/fixed-base.ts";
import { classGroupOfCurve } from "../../../../src/protocol/class-groups/class-group.ts";
import { powerForm, productOfPowers } from "../../../../src/protocol/class-groups/exponentiation.ts";
import { composeClasses, fromMaximalOrder } from "../../../../src/protocol/class-groups/maximal-order.ts";

const group = classGroupOfCurve(2);
let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "tables-"));
});
afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

function onlyFile(): string {
  const files = readdirSync(directory);
  expect(files).toHaveLength(1);
  return join(directory, files[0]!);
}

describe("a fixed base", () => {
  it("computes correct powers for exponents longer than its table", () => {
    const base = tableSource(undefined).fixedBase(group, group.h);
    for (const exponent of [0n, 5n, (1n << 749n) - 3n, (1n << 941n) - 7n]) {
      const { power, rest } = fixedBaseFactors(group, base, exponent);
      const product = composeClasses(group, power, productOfPowers(group, [rest]));
      expect(fromMaximalOrder(group, product)).toEqual(powerForm(group, group.h, exponent));
    }
  });
});

describe("tables kept in a directory", () => {
  it("are written once, leave no temporary files, and are read back unchanged", () => {
    const built = tableSource(directory).fixedBase(group, group.h);
    const before = readFileSync(onlyFile());
    expect(tableSource(directory).fixedBase(group, group.h)).toEqual(built);
    expect(readFileSync(onlyFile()).equals(before)).toBe(true);
  });

  it.each([
    ["a flipped bit in an entry", (file: Buffer) => file.with(5000, file[5000]! ^ 1)],
    ["a flipped bit in the digest", (file: Buffer) => file.with(0, file[0]! ^ 1)],
    ["a missing tail", (file: Buffer) => file.subarray(0, 100_000)],
    ["nothing", () => Buffer.alloc(0)],
  ])("are built again, and the file is replaced, after %s", (_, corrupt) => {
    const built = tableSource(directory).fixedBase(group, group.h);
    const path = onlyFile();
    const good = readFileSync(path);
    writeFileSync(path, corrupt(good));
    expect(tableSource(directory).fixedBase(group, group.h)).toEqual(built);
    expect(readFileSync(onlyFile()).equals(good)).toBe(true);
  });

  it("are not read from a valid file of another base", () => {
    const source = tableSource(directory);
    source.fixedBase(group, group.h);
    const path = onlyFile();
    const ofH = readFileSync(path);
    rmSync(path);
    const other = powerForm(group, group.h, 3n);
    const built = source.fixedBase(group, other);
    writeFileSync(onlyFile(), ofH);
    expect(source.fixedBase(group, other)).toEqual(built);
  });

  it("are built if the directory cannot be created", () => {
    const file = join(directory, "file");
    writeFileSync(file, "");
    chmodSync(file, 0o400);
    expect(tableSource(join(file, "below")).fixedBase(group, group.h).table.entries).toHaveLength(1024);
  });
});
