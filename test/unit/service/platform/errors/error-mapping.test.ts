import { create } from "@bufbuild/protobuf";
import { createValidator } from "@bufbuild/protovalidate";
import { Code, ConnectError, createClient, createRouterTransport } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import {
  BadRequestSchema,
  ErrorInfoSchema,
  RetryInfoSchema,
} from "../../../../../gen/proto/google/rpc/error_details_pb.ts";
import { Signing, SubmitSignRequestSchema } from "../../../../../gen/proto/tss/v1/signing_pb.ts";
import {
  ERROR_CATALOGUE,
  type ErrorKind,
  type ErrorReason,
} from "../../../../../src/service/platform/errors/catalogue.ts";
import { createErrorInterceptor } from "../../../../../src/service/platform/errors/error-interceptor.ts";
import {
  createErrorMapping,
  type FailureRecord,
  reasonOf,
} from "../../../../../src/service/platform/errors/error-mapping.ts";
import { ServiceError } from "../../../../../src/service/platform/errors/service-error.ts";
import { createWarmValidateInterceptor } from "../../../../../src/service/platform/errors/validate-interceptor.ts";
import { httpStatusOfCode, TransportError } from "../../../../../src/transport/calls/transport-error.ts";

const CALL = { requestId: "r-1", method: "tss.v1.Signing/GetSign" };

function mapping() {
  const failures: FailureRecord[] = [];
  const errors = createErrorMapping((failure) => failures.push(failure));
  return { failures, errors, map: (reason: unknown) => errors.toConnectError(reason, CALL) };
}

const kinds: [ErrorReason, ErrorKind][] = Object.entries(ERROR_CATALOGUE) as [ErrorReason, ErrorKind][];

describe("an expected failure", () => {
  it.each(kinds)("%s has the catalogue's code, status and retry hint", (reason, kind) => {
    const { map, errors } = mapping();
    const error = map(new ServiceError(reason, "public words"));
    expect(error.code).toBe(kind.code);
    expect(reasonOf(error)).toBe(reason);
    expect(errors.httpStatus(error)).toBe(kind.httpStatus ?? httpStatusOfCode(kind.code));
    expect(error.metadata.get("retry-after")).toBe(kind.retryAfterSeconds?.toString() ?? null);
    expect(error.findDetails(RetryInfoSchema)).toHaveLength(kind.retryAfterSeconds === undefined ? 0 : 1);
  });

  it("sends its metadata and fields, and writes its internal text only to the log", () => {
    const { map, failures } = mapping();
    const cause = new Error("row 7");
    const error = map(
      new ServiceError("VALIDATION", "public words", {
        metadata: { id: "1" },
        violations: [{ field: "a.b", description: "is bad" }],
        detail: "internal words",
        cause,
      }),
    );
    expect(error.rawMessage).toBe("public words");
    expect(error.findDetails(ErrorInfoSchema)[0]).toMatchObject({ domain: "tss", metadata: { id: "1" } });
    expect(error.findDetails(BadRequestSchema)[0]?.fieldViolations).toMatchObject([{ field: "a.b" }]);
    expect(failures).toMatchObject([
      { level: "warn", reason: "VALIDATION", detail: "internal words", cause, requestId: "r-1" },
    ]);
  });

  it("uses its own retry hint, rounded up to seconds in the header", () => {
    const error = mapping().map(new ServiceError("RATE_LIMITED", "slower", { retryAfterSeconds: 1.5 }));
    expect(error.metadata.get("retry-after")).toBe("2");
    expect(error.findDetails(RetryInfoSchema)[0]?.retryDelay).toMatchObject({
      seconds: 1n,
      nanos: 500_000_000,
    });
  });

  it("carries a fraction of almost a second into a whole second, because a Duration has fewer nanos than that", () => {
    const error = mapping().map(
      new ServiceError("RATE_LIMITED", "slower", { retryAfterSeconds: 1.9999999999 }),
    );
    expect(error.findDetails(RetryInfoSchema)[0]?.retryDelay).toMatchObject({ seconds: 2n, nanos: 0 });
  });

  it("replaces half a surrogate pair in a shortened text with the replacement character", () => {
    const cut = "\u{1f511}".slice(0, 1);
    const violations = [{ field: cut, description: `unknown ${cut}` }];
    const error = mapping().map(new ServiceError("VALIDATION", `no ${cut}, but \u{1f511}`, { violations }));
    expect(error.rawMessage).toBe("no \u{fffd}, but \u{1f511}");
    expect(error.findDetails(BadRequestSchema)[0]?.fieldViolations).toMatchObject([
      { field: "\u{fffd}", description: "unknown \u{fffd}" },
    ]);
  });

  it("is mapped and logged once", () => {
    const { map, failures } = mapping();
    const error = map(new ServiceError("INVALID_KEY", "no"));
    expect(map(error)).toBe(error);
    expect(failures).toHaveLength(1);
  });
});

describe("an unexpected failure", () => {
  it.each([
    new TypeError("secret"),
    "secret",
    undefined,
    new ConnectError("secret", Code.Internal),
    new ConnectError("secret", Code.NotFound),
    new ServiceError("INTERNAL", "secret"),
  ])("%s shows no details to the caller", (reason) => {
    const { map, failures } = mapping();
    const error = map(reason);
    expect(error).toMatchObject({ code: Code.Internal, rawMessage: "internal error" });
    expect(error.findDetails(ErrorInfoSchema)[0]).toMatchObject({
      reason: "INTERNAL",
      metadata: { requestId: "r-1" },
    });
    expect(failures).toMatchObject([{ level: "error", reason: "INTERNAL" }]);
  });
});

describe("a failure of the transport", () => {
  it("keeps its fault as the reason, and the fields", () => {
    const violations = [{ field: "x", description: "unknown field" }];
    const error = mapping().map(new TransportError("VALIDATION", "x: unknown field", { violations }));
    expect(reasonOf(error)).toBe("VALIDATION");
    expect(error.findDetails(BadRequestSchema)[0]?.fieldViolations).toMatchObject(violations);
  });

  it("is DEADLINE for a passed deadline, and neither sent nor logged for a caller that left", () => {
    const { map, failures } = mapping();
    expect(reasonOf(map(new ConnectError("late", Code.DeadlineExceeded)))).toBe("DEADLINE");
    const gone = new ConnectError("gone", Code.Canceled);
    expect(map(gone)).toBe(gone);
    expect(failures).toHaveLength(1);
  });
});

describe("the interceptor", () => {
  it("maps violated rules of the contract, each field by its proto name", async () => {
    const { errors } = mapping();
    const transport = createRouterTransport(({ service }) => service(Signing, {}), {
      router: { interceptors: [createErrorInterceptor(errors), createWarmValidateInterceptor([Signing])] },
    });
    const call = createClient(Signing, transport).submitSign({ signRequestId: "x" });
    const error = await call.then(
      () => undefined,
      (reason: unknown) => ConnectError.from(reason),
    );
    const fields = error?.findDetails(BadRequestSchema)[0]?.fieldViolations.map(({ field }) => field);
    expect(fields?.sort()).toEqual(["sign_request_id", "user_sign_message"]);
    const checked = createValidator().validate(
      SubmitSignRequestSchema,
      create(SubmitSignRequestSchema, { signRequestId: "x" }),
    );
    expect(checked.violations).toHaveLength(2);
  });
});
