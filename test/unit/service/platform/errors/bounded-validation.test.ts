import { create, type DescMessage, type MessageInitShape } from "@bufbuild/protobuf";
import { TimestampSchema } from "@bufbuild/protobuf/wkt";
import { describe, expect, it } from "vitest";
import { type ApiKey_Scope, CreateApiKeyRequestSchema } from "../../../../../gen/proto/tss/v1/admin_pb.ts";
import { GetProtocolParametersRequestSchema } from "../../../../../gen/proto/tss/v1/onboarding_pb.ts";
import { SubmitSignRequestSchema } from "../../../../../gen/proto/tss/v1/signing_pb.ts";
import { createBoundedValidator } from "../../../../../src/service/platform/errors/validate-interceptor.ts";
import { METHODS } from "../../../../component/service/access/contract-calls.ts";

const validator = createBoundedValidator();

function validate<D extends DescMessage>(desc: D, init: MessageInitShape<D>) {
  return validator.validate(desc, create(desc, init));
}

/** Counts the reads of items of `items`. */
function countReads<T>(items: T[]): { items: T[]; readCount: () => number } {
  let count = 0;
  const counting = new Proxy(items, {
    get(target, property, receiver) {
      if (typeof property === "string" && /^\d+$/.test(property)) count++;
      return Reflect.get(target, property, receiver);
    },
  });
  return { items: counting, readCount: () => count };
}

const KEY = { projectId: "018f6b1c-7a1e-7bbb-8ccc-1234567890ab", name: "a key" };

describe("a list that is too long", () => {
  it("is rejected for its length without checking its items", () => {
    const { items, readCount } = countReads(Array<number>(40_000).fill(99));
    const request = Object.assign(create(CreateApiKeyRequestSchema, KEY), { scopes: items });
    const result = validator.validate(CreateApiKeyRequestSchema, request);
    expect(result.violations?.map(({ ruleId }) => ruleId)).toEqual(["repeated.max_items"]);
    expect(readCount()).toBeLessThan(100);
  });
});

describe("a message with few items", () => {
  it("reports all of its violations", () => {
    const fields = validate(SubmitSignRequestSchema, { signRequestId: "x" }).violations;
    expect(fields).toHaveLength(2);
    const scopes = validate(CreateApiKeyRequestSchema, {
      ...KEY,
      scopes: [98, 99] as ApiKey_Scope[],
    }).violations;
    expect(scopes).toHaveLength(2);
  });

  it("passes if it is valid", () => {
    expect(validate(CreateApiKeyRequestSchema, { ...KEY, scopes: [1] }).kind).toBe("valid");
  });
});

/** Every time in a request. */
const TIMES = METHODS.flatMap(({ input }) =>
  input.fields
    .filter(({ message }) => message?.typeName === TimestampSchema.typeName)
    .map((field) => [`${input.name}.${field.name}`, input, field] as const),
);

describe("a time in a request", () => {
  it.each(TIMES)("that no date or no JSON can hold is refused: %s", (_name, input, { localName, name }) => {
    const violated = (seconds: bigint) =>
      validator
        .validate(input, create(input, { [localName]: create(TimestampSchema, { seconds }) }))
        .violations?.flatMap(({ field }) => field.map((part) => ("name" in part ? part.name : "")));
    for (const seconds of [9_000_000_000_000_000n, 253_402_300_800n, -9_000_000_000_000_000n])
      expect(violated(seconds)).toContain(name);
    expect(violated(BigInt(Math.floor(Date.now() / 1_000)) + 60n) ?? []).not.toContain(name);
  });
});

describe("a text with a pattern", () => {
  it("is matched against it", () => {
    const { kind } = validate(GetProtocolParametersRequestSchema, { sha256: "0".repeat(64) });
    expect(kind).toBe("valid");
    expect(validate(GetProtocolParametersRequestSchema, { sha256: "x".repeat(64) }).kind).toBe("invalid");
  });

  it("is rejected without matching if it is longer than any valid text", () => {
    let readCount = 0;
    const long = "0".repeat(100_000);
    const { exec } = RegExp.prototype;
    RegExp.prototype.exec = function (text) {
      if (text.length > 50_000) readCount++;
      return exec.call(this, text);
    };
    try {
      const { violations } = validate(GetProtocolParametersRequestSchema, { sha256: long });
      expect(violations?.map(({ ruleId }) => ruleId)).toEqual(["string.pattern"]);
    } finally {
      RegExp.prototype.exec = exec;
    }
    expect(readCount).toBe(0);
  });
});
