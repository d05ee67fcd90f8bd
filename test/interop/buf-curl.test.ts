/** `buf curl` is a client of connect-go. It learns the service by reflection or from the protos. */
import path from "node:path";
import { fromBinary } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { ErrorInfoSchema, RetryInfoSchema } from "../../gen/proto/google/rpc/error_details_pb.ts";
import { ROOT } from "../support/repository/source-files.ts";
import { type ProgramRun, runProgram } from "./run-program.ts";
import {
  LARGE_REPLY_BYTES,
  payloadOf,
  SPECIAL_MESSAGE,
  startTestServer,
  type TestServer,
} from "./test-server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

function bufCurl(options: readonly string[], where: string, request?: object): Promise<ProgramRun> {
  const data = request === undefined ? [] : ["--data", "@-"];
  const argv = ["curl", ...options, ...data, `${server.url}${where}`];
  return runProgram(path.join(ROOT, "node_modules/.bin/buf"), argv, JSON.stringify(request));
}

const SERVICE = "/tss.testing.v1.TestService";
const H2 = "--http2-prior-knowledge";
/** The upper bits of the exit code are the call's status. */
const exitCodeOf = (code: number) => code << 3;

const ways = (): [string, string[]][] => [
  ["gRPC by reflection", ["--protocol", "grpc", H2]],
  ["gRPC by the older reflection", ["--protocol", "grpc", H2, "--reflect-protocol", "grpc-v1alpha"]],
  ["gRPC-web by reflection", ["--protocol", "grpcweb", H2]],
  ["Connect by reflection", ["--protocol", "connect", H2]],
  ["gRPC-web over HTTP/1.1", ["--protocol", "grpcweb", "--schema", inject("protoImage")]],
  ["Connect over HTTP/1.1", ["--protocol", "connect", "--schema", inject("protoImage")]],
];

describe.each(ways())("%s", (_name, options) => {
  it("sends and gets complete messages", async () => {
    const payload = { body: Buffer.from(payloadOf(10_000).body).toString("base64") };
    const { out, err } = await bufCurl(options, `${SERVICE}/UnaryCall`, {
      responseSize: LARGE_REPLY_BYTES,
      payload,
    });
    expect(err).toBe("");
    const { payload: got } = JSON.parse(out.toString()) as { payload: { body: string } };
    expect(Buffer.from(got.body, "base64").equals(payloadOf(LARGE_REPLY_BYTES).body)).toBe(true);
  });

  it("gets a stream in order", async () => {
    const responseParameters = [{ size: 3 }, { size: 0 }, { size: 2 }];
    const { out, err } = await bufCurl(options, `${SERVICE}/StreamingOutputCall`, { responseParameters });
    expect(err).toBe("");
    const bodies = [...out.toString().matchAll(/"body": "(.*)"|"payload": \{\}/g)].map(([, body]) => body);
    expect(bodies).toEqual(["AAEC", undefined, "AAE="]);
  });

  it("gets code, message and details of an error", async () => {
    const responseStatus = { code: 9, message: SPECIAL_MESSAGE, withDetails: true };
    const { code, err } = await bufCurl(options, `${SERVICE}/UnaryCall`, { responseStatus });
    expect(code).toBe(exitCodeOf(9));
    const error = JSON.parse(err) as { details: { type: string; value: string }[] };
    expect(error).toMatchObject({ code: "failed_precondition", message: SPECIAL_MESSAGE });
    const [info, retry] = error.details.map(({ value }) => Buffer.from(value, "base64"));
    expect(error.details.map(({ type }) => type)).toEqual(["google.rpc.ErrorInfo", "google.rpc.RetryInfo"]);
    expect(fromBinary(ErrorInfoSchema, info!)).toMatchObject({ reason: "AS_ASKED", domain: "testing" });
    expect(fromBinary(RetryInfoSchema, retry!)).toMatchObject({ retryDelay: { seconds: 7n } });
  });

  it("gets UNIMPLEMENTED for a method that is not implemented", async () => {
    const { code, err } = await bufCurl(options, `${SERVICE}/UnimplementedCall`, {});
    expect([code, JSON.parse(err)]).toMatchObject([exitCodeOf(12), { code: "unimplemented" }]);
  });
});

describe("gRPC by reflection", () => {
  it("streams both ways", async () => {
    const { out, err } = await bufCurl(["--protocol", "grpc", H2], `${SERVICE}/FullDuplexCall`, {
      responseParameters: [{ size: 1 }],
    });
    expect([JSON.parse(out.toString()), err]).toEqual([{ payload: { body: "AA==" } }, ""]);
  });

  it("lists services and methods", async () => {
    const services = await bufCurl(["--list-services", H2], "");
    expect(services.out.toString().trim().split("\n")).toEqual([
      "grpc.health.v1.Health",
      "grpc.reflection.v1.ServerReflection",
      "grpc.reflection.v1alpha.ServerReflection",
      "tss.testing.v1.TestService",
    ]);
    const methods = await bufCurl(["--list-methods", H2], "");
    expect(methods.out.toString()).toContain("tss.testing.v1.TestService/FullDuplexCall");
  });

  it("checks health", async () => {
    const check = "/grpc.health.v1.Health/Check";
    const { out } = await bufCurl(["--protocol", "grpc", H2], check, {
      service: "tss.testing.v1.TestService",
    });
    expect(JSON.parse(out.toString())).toEqual({ status: "SERVING" });
    const unknown = await bufCurl(["--protocol", "grpc", H2], check, { service: "nobody" });
    expect(unknown.code).toBe(exitCodeOf(5));
  });
});
