import { describe, expect, it } from "vitest";
import { printableOutput } from "../../../src/cli/output/printable.ts";
import { runTss } from "../../../src/cli/run-tss.ts";

const CONTROLS = "\u001b[2J\u009b31m\r\u202e\u0007";

describe("the output of a command", () => {
  it("keeps its lines and tabs, and nothing that controls the terminal", () => {
    expect(printableOutput(`one${CONTROLS}\n\ttwo`)).toBe(
      "one\u{fffd}[2J\u{fffd}31m\u{fffd}\u{fffd}\u{fffd}\n\ttwo",
    );
  });

  it("as JSON keeps its value", () => {
    for (const space of [0, 2]) {
      const line = printableOutput(JSON.stringify({ name: `${CONTROLS}\u{e0001}` }, undefined, space));
      expect(line.replaceAll("\n", "")).not.toMatch(/\p{C}/u);
      expect(JSON.parse(line)).toEqual({ name: `${CONTROLS}\u{e0001}` });
    }
  });

  it("is printable on both streams", async () => {
    const notes: string[] = [];
    await runTss([`un${CONTROLS}known`], { print: () => {}, note: (line) => void notes.push(line) });
    expect(notes.join("")).not.toMatch(/(?!\n)\p{C}/u);
  });
});
