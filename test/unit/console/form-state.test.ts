import { expect, it } from "vitest";
import { isNameTyped, missingText } from "../../../src/console/format/form-state.ts";
import { lowBalanceFault } from "../../../src/console/format/input-faults.ts";

it("a form names its first empty field, then points to the marked one, and else can be sent", () => {
  const name = ["Name", "  "] as const;
  expect(missingText({ required: [name, ["Reason", ""]], faults: ["wrong"] })).toBe("Fill in “Name”.");
  expect(missingText({ required: [["Name", "x"]], faults: [undefined, "wrong"] })).toBe(
    "Mend the marked field first.",
  );
  expect(missingText({ required: [["Name", "x"]], faults: [undefined] })).toBeUndefined();
  expect(missingText({ required: [] })).toBeUndefined();
});

it("a name is typed if it is the name itself, as it is or as the console shows it, but nothing else", () => {
  expect(isNameTyped("main", "main", "main")).toBe(true);
  expect(isNameTyped(" main ", "main", "main")).toBe(true);
  expect(isNameTyped("a⟨U+202E⟩b", "a\u202eb", "a⟨U+202E⟩b")).toBe(true);
  for (const typed of ["", " ", "Main", "mai", "main2"])
    expect(isNameTyped(typed, "main", "main")).toBe(false);
  expect(isNameTyped("", "  ", "  ")).toBe(false);
});

it("a warning is below an amount that the service accepts, or absent", () => {
  expect(lowBalanceFault("")).toBeUndefined();
  expect(lowBalanceFault("0.000001")).toBeUndefined();
  expect(lowBalanceFault("1,000,000,000")).toBeUndefined();
  expect(lowBalanceFault("1,000,000,000.000001")).toContain("The highest amount is $1,000,000,000.00");
  for (const text of ["0", "-1", "x", "1.0000001"]) expect(lowBalanceFault(text)).toContain("above zero");
});
