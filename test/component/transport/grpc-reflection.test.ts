import { createFileRegistry, fromBinary, getOption, type Registry, toBinary } from "@bufbuild/protobuf";
import {
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  file_google_protobuf_descriptor,
} from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { http } from "../../../gen/proto/google/api/annotations_pb.ts";
import { ServerReflection } from "../../../gen/proto/grpc/reflection/v1/reflection_pb.ts";
import { ServerReflection as ServerReflectionV1Alpha } from "../../../gen/proto/grpc/reflection/v1alpha/reflection_pb.ts";
import { ServiceError } from "../../../src/service/platform/errors/service-error.ts";
import { type FakeServer, startFakes } from "./fake-services.ts";

type Question =
  | {
      case: "listServices" | "fileByFilename" | "fileContainingSymbol" | "allExtensionNumbersOfType";
      value: string;
    }
  | { case: "fileContainingExtension"; value: { containingType: string; extensionNumber: number } };

let server: FakeServer;
beforeAll(async () => {
  server = await startFakes({
    gate: () => {
      throw new ServiceError("MISSING_KEY", "send a key");
    },
  });
});
afterAll(() => server.close());

const versions = [
  ["v1", ServerReflection],
  // The same messages under other names.
  ["v1alpha", ServerReflectionV1Alpha as unknown as typeof ServerReflection],
] as const;

describe.each(versions)("reflection %s, without a key,", (_version, service) => {
  /** Sends one question after another on one stream. */
  async function ask(...questions: (Question | undefined)[]) {
    const client = createClient(service, createGrpcTransport({ baseUrl: server.url }));
    async function* requests() {
      for (const question of questions) {
        yield { host: "here", messageRequest: question ?? { case: undefined } };
      }
    }
    const answers = [];
    for await (const reply of client.serverReflectionInfo(requests())) answers.push(reply);
    return answers;
  }

  async function answer(question: Question | undefined) {
    const [reply] = await ask(question);
    return reply!.messageResponse;
  }

  async function filesFor(question: Question): Promise<FileDescriptorProto[]> {
    const { case: kind, value } = await answer(question);
    if (kind !== "fileDescriptorResponse") throw new Error(`answered ${kind}`);
    return value.fileDescriptorProto.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes));
  }

  it("lists every service, including itself", async () => {
    expect(await answer({ case: "listServices", value: "*" })).toMatchObject({
      value: {
        service: [
          { name: "grpc.health.v1.Health" },
          { name: "grpc.reflection.v1.ServerReflection" },
          { name: "grpc.reflection.v1alpha.ServerReflection" },
          { name: "tss.v1.Admin" },
          { name: "tss.v1.Onboarding" },
          { name: "tss.v1.Signing" },
        ],
      },
    });
  });

  it("returns a file and then all its imports, each once, so that a client knows every type", async () => {
    const files = await filesFor({ case: "fileContainingSymbol", value: "tss.v1.Signing" });
    const names = files.map(({ name }) => name);
    expect(names[0]).toBe("tss/v1/signing.proto");
    expect(new Set(names).size).toBe(names.length);
    expect(names).toEqual(expect.arrayContaining(files.flatMap(({ dependency }) => dependency)));
    const method = registryOf(files).getService("tss.v1.Signing")!.method["getSign"]!;
    expect(getOption(method, http).pattern).toEqual({ case: "get", value: "/v1/sign/{sign_request_id}" });
  });

  it.each([
    ["tss.v1.SignRequest", "a message"],
    ["tss.v1.SignRequest.status", "a field"],
    ["tss.v1.SignRequest.Status", "a nested enum"],
    ["tss.v1.SignRequest.queued", "a value of a nested enum"],
    ["tss.v1.Signing.ReserveSign", "a method"],
  ])("finds the file of %s, %s", async (symbol) => {
    const [file] = await filesFor({ case: "fileContainingSymbol", value: symbol });
    expect(file?.name).toBe("tss/v1/signing.proto");
  });

  it.each([
    ["tss.v1.ECDSASecp256k1", "tss/v1/types.proto"],
    ["tss.v1.access", "tss/v1/options.proto"],
    ["google.api.http", "google/api/annotations.proto"],
    ["google.api.HttpRule.pattern", "google/api/http.proto"],
    ["google.protobuf.DescriptorProto.ExtensionRange", "google/protobuf/descriptor.proto"],
    ["google.protobuf.FieldDescriptorProto.TYPE_SINT64", "google/protobuf/descriptor.proto"],
    ["grpc.health.v1.Health.Watch", "grpc/health/v1/health.proto"],
  ])("finds the file of %s among the imports", async (symbol, name) => {
    const [file] = await filesFor({ case: "fileContainingSymbol", value: symbol });
    expect(file?.name).toBe(name);
  });

  it("finds a file by its name", async () => {
    const files = await filesFor({ case: "fileByFilename", value: "google/protobuf/descriptor.proto" });
    expect(files.map((file) => toBinary(FileDescriptorProtoSchema, file))).toEqual([
      toBinary(FileDescriptorProtoSchema, file_google_protobuf_descriptor.proto),
    ]);
  });

  it("finds extensions by number, and the numbers of a type's extensions", async () => {
    const extension = { containingType: "google.protobuf.MethodOptions", extensionNumber: 72295728 };
    const [file] = await filesFor({ case: "fileContainingExtension", value: extension });
    expect(file?.name).toBe("google/api/annotations.proto");
    const numbers = await answer({ case: "allExtensionNumbersOfType", value: extension.containingType });
    expect(numbers).toMatchObject({
      case: "allExtensionNumbersResponse",
      value: { baseTypeName: extension.containingType },
    });
    expect(numbers.value).toHaveProperty("extensionNumber", expect.arrayContaining([72295728]));
    expect(await answer({ case: "allExtensionNumbersOfType", value: "tss.v1.SignRequest" })).toMatchObject({
      value: { baseTypeName: "tss.v1.SignRequest", extensionNumber: [] },
    });
  });

  it("reports an unknown name in the stream, which continues", async () => {
    const unknown: Question[] = [
      { case: "fileByFilename", value: "nowhere.proto" },
      { case: "fileContainingSymbol", value: "tss.v1.Nothing" },
      {
        case: "fileContainingExtension",
        value: { containingType: "tss.v1.SignRequest", extensionNumber: 1 },
      },
      { case: "allExtensionNumbersOfType", value: "tss.v1.Signing" },
    ];
    const replies = await ask(...unknown, undefined, { case: "listServices", value: "" });
    const codes = replies.map(
      ({ messageResponse: { value } }) => value && "errorCode" in value && value.errorCode,
    );
    expect(codes).toEqual([...Array(4).fill(Code.NotFound), Code.InvalidArgument, false]);
    expect(replies[1]).toMatchObject({
      validHost: "here",
      originalRequest: { host: "here", messageRequest: { value: "tss.v1.Nothing" } },
    });
  });
});

describe("a server without reflection and health", () => {
  it("serves neither of them", async () => {
    const plain = await startFakes({ grpcHealth: false, grpcReflection: false });
    const transport = createGrpcTransport({ baseUrl: plain.url });
    const replies = createClient(ServerReflection, transport).serverReflectionInfo(
      (async function* () {
        yield {};
      })(),
    );
    const error = await replies[Symbol.asyncIterator]()
      .next()
      .catch((reason: unknown) => ConnectError.from(reason).code);
    expect(error).toBe(Code.Unimplemented);
    await plain.close();
  });
});

function registryOf(files: FileDescriptorProto[]): Registry {
  const set = toBinary(FileDescriptorSetSchema, {
    $typeName: "google.protobuf.FileDescriptorSet",
    file: [...files].reverse(),
  });
  return createFileRegistry(fromBinary(FileDescriptorSetSchema, set));
}
