import path from "node:path";
import { type DescMethod, type DescService, fromJson, type JsonObject, toBinary } from "@bufbuild/protobuf";
import { Health } from "../../gen/proto/grpc/health/v1/health_pb.ts";
import { ServerReflection } from "../../gen/proto/grpc/reflection/v1/reflection_pb.ts";
import { Admin } from "../../gen/proto/tss/v1/admin_pb.ts";
import { Onboarding } from "../../gen/proto/tss/v1/onboarding_pb.ts";
import { Signing } from "../../gen/proto/tss/v1/signing_pb.ts";
import { DWALLET_ID, PARAMETERS_SHA256, UUID } from "../component/transport/fake-services.ts";
import { compileProto, Gallery } from "../component/transport/rest/gallery.ts";

/** `tss.testing.v1.TestService`, for streams in both directions. */
export const TestService: DescService = compileProto(
  path.join(import.meta.dirname, "../interop/testing.proto"),
).getService("tss.testing.v1.TestService")!;

/** A method and a well-formed request for it. */
export interface Endpoint {
  readonly path: string;
  readonly kind: DescMethod["methodKind"];
  readonly json: JsonObject;
  readonly binary: Buffer;
  /** Whether a call lasts as long as the client wants. */
  readonly mayStay: boolean;
}

const NESTED = { stringValue: "a", enumValue: 1, nested: { doubleValue: "NaN", left: "b" }, count: 3 };
const PARAMETERS = {
  stringValue: "a/b",
  int64Value: "-9007199254740993",
  bytesValue: "AAEC",
  timestamp: "2026-01-01T00:00:00Z",
  duration: "1.5s",
  fieldMask: "a.b,c",
  int64ValueWrapper: "4",
  stringList: ["x", ""],
  nestedMap: { key: NESTED },
  nested: NESTED,
  recursive: { recursive: { stringValue: "deep" } },
  oneofNested: NESTED,
};
const STREAM = { responseParameters: [{ size: 3 }, { size: 2_000 }], payload: { body: "AAEC" } };

/** Covers most of what the fuzzed server serves. */
export const ENDPOINTS: readonly Endpoint[] = [
  endpoint(Signing, "GetSign", { signRequestId: UUID }),
  endpoint(Signing, "SubmitSign", { signRequestId: UUID, userSignMessage: "AAEC".repeat(400) }),
  endpoint(Signing, "ReserveSign", {
    dwalletId: DWALLET_ID,
    signatureAlgorithm: "EdDSA",
    hashScheme: "SHA512",
    message: "aGk=",
  }),
  endpoint(Signing, "WatchSign", { signRequestId: UUID, cursor: "c" }),
  endpoint(Onboarding, "GetNetwork", {}),
  endpoint(Onboarding, "GetProtocolParameters", { sha256: PARAMETERS_SHA256, offset: "599000" }),
  endpoint(Onboarding, "GetDWallet", { dwalletId: DWALLET_ID }),
  endpoint(Admin, "GetPresignHealth", { curve: 2 }),
  endpoint(Admin, "RefillPresigns", { curve: 2, signatureAlgorithm: 0, count: 1 }),
  endpoint(Admin, "DrainNetwork", {}),
  endpoint(Gallery, "Get", PARAMETERS),
  endpoint(Gallery, "Create", PARAMETERS),
  endpoint(Gallery, "Update", PARAMETERS),
  endpoint(Gallery, "Upload", { contentType: "text/plain", data: "AAEC" }),
  endpoint(Gallery, "Watch", { cursor: "1", name: "n" }),
  endpoint(TestService, "EmptyCall", {}),
  endpoint(TestService, "UnaryCall", { responseSize: 3_000, payload: { body: "AAEC" } }),
  endpoint(TestService, "StreamingOutputCall", STREAM),
  endpoint(TestService, "StreamingInputCall", { payload: { body: "AAEC" } }),
  endpoint(TestService, "FullDuplexCall", STREAM),
  endpoint(TestService, "UnimplementedCall", {}),
  endpoint(Health, "Check", {}),
  endpoint(Health, "Watch", {}, true),
  endpoint(ServerReflection, "ServerReflectionInfo", { host: "a", listServices: "" }, true),
];

function endpoint(service: DescService, name: string, json: JsonObject, mayStay = false): Endpoint {
  const method = service.methods.find((one) => one.name === name);
  if (method === undefined) throw new Error(`there is no ${service.typeName}/${name}`);
  const binary = Buffer.from(toBinary(method.input, fromJson(method.input, json)));
  return { path: `/${service.typeName}/${name}`, kind: method.methodKind, json, binary, mayStay };
}
