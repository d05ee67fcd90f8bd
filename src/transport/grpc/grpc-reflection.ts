import type { DescService, MessageInitShape } from "@bufbuild/protobuf";
import { Code, type ServiceImpl } from "@connectrpc/connect";
import {
  ServerReflection,
  type ServerReflectionRequest,
  type ServerReflectionResponseSchema,
} from "../../../gen/proto/grpc/reflection/v1/reflection_pb.ts";
import { ServerReflection as ServerReflectionV1Alpha } from "../../../gen/proto/grpc/reflection/v1alpha/reflection_pb.ts";
import { registerService, type ServiceRegistration } from "../calls/service-registration.ts";
import { createDescriptorIndex, type DescriptorIndex } from "./descriptor-index.ts";

/**
 * Serves reflection (https://github.com/grpc/grpc/blob/master/doc/server-reflection.md) of these services and of
 * itself, in both versions that clients use. Each reply with files is complete: the requested file first, then all its
 * imports, each once. Unknown names and malformed requests are answered in the stream.
 */
export function createGrpcReflection(services: readonly DescService[]): ServiceRegistration[] {
  const all = [...services, ServerReflection, ServerReflectionV1Alpha];
  const names = all.map((service) => service.typeName).sort();
  let index: DescriptorIndex | undefined;
  const implementation: ServiceImpl<typeof ServerReflection> = {
    async *serverReflectionInfo(requests) {
      let count = 0;
      for await (const request of requests) {
        if (++count > REQUESTS_MAX_COUNT) {
          yield { messageResponse: failure(Code.ResourceExhausted, "continue in another stream") };
          return;
        }
        // Most processes never receive a reflection request.
        index ??= createDescriptorIndex(all.map((service) => service.file));
        yield {
          validHost: request.host,
          originalRequest: request,
          messageResponse: answer(request.messageRequest, index, names),
        };
      }
    },
  };
  return [
    { ...registerService(ServerReflection, implementation), isPublic: true },
    {
      // The messages of the two versions differ only in their type names, and no message is created by its type name
      // here.
      ...registerService(
        ServerReflectionV1Alpha,
        implementation as unknown as ServiceImpl<typeof ServerReflectionV1Alpha>,
      ),
      isPublic: true,
    },
  ];
}

/** The limit of requests in one stream, because only the opening of a stream counts towards rate limits. */
const REQUESTS_MAX_COUNT = 100;

type Answer = NonNullable<MessageInitShape<typeof ServerReflectionResponseSchema>["messageResponse"]>;

function answer(
  { case: kind, value }: ServerReflectionRequest["messageRequest"],
  index: DescriptorIndex,
  names: readonly string[],
): Answer {
  switch (kind) {
    case "listServices":
      return { case: "listServicesResponse", value: { service: names.map((name) => ({ name })) } };
    case "fileByFilename":
      return filesOr(index.fileNamed(value), "file");
    case "fileContainingSymbol":
      return filesOr(index.fileOfSymbol(value), "symbol");
    case "fileContainingExtension":
      return filesOr(index.fileOfExtension(value.containingType, value.extensionNumber), "extension");
    case "allExtensionNumbersOfType": {
      const numbers = index.extensionNumbers(value);
      if (numbers === undefined) return failure(Code.NotFound, "there is no such message");
      return {
        case: "allExtensionNumbersResponse",
        value: { baseTypeName: value, extensionNumber: numbers },
      };
    }
    case undefined:
      return failure(Code.InvalidArgument, "unknown kind of request");
  }
}

function filesOr(files: Uint8Array[] | undefined, what: string): Answer {
  return files === undefined
    ? failure(Code.NotFound, `there is no such ${what}`)
    : { case: "fileDescriptorResponse", value: { fileDescriptorProto: files } };
}

function failure(errorCode: Code, errorMessage: string): Answer {
  return { case: "errorResponse", value: { errorCode, errorMessage } };
}
