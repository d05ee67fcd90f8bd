import { createContextValues } from "@connectrpc/connect";
import { expect, it } from "vitest";
import { callerOf, networkOf, setCaller } from "../../../../src/service/access/caller.ts";

it("a call that passed no gate has neither a caller nor a network", () => {
  const values = createContextValues();
  expect(() => callerOf({ values }, "project")).toThrow("unknown caller");
  expect(() => networkOf({ values })).toThrow("unknown caller");
});

it("a method gets no caller of another kind than it accepts", () => {
  const values = createContextValues();
  setCaller(values, { kind: "anonymous", network: "testnet" });
  expect(networkOf({ values })).toBe("testnet");
  expect(callerOf({ values }, "anonymous")).toEqual({ kind: "anonymous", network: "testnet" });
  expect(() => callerOf({ values }, "admin")).toThrow("let anonymous through");
});
