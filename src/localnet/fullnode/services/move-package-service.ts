import { TypeTagSerializer } from "@mysten/sui/bcs";
import { GrpcTypes } from "@mysten/sui/grpc";
import { RpcFailure, Status } from "../execution/failures.ts";
import {
  type FunctionTable,
  lookUpFunction,
  type MoveFunction,
  type Reference,
} from "../execution/move-function.ts";
import type { ObjectStore } from "../objects/object-store.ts";
import { parseAddress } from "../objects/sui-types.ts";
import { type UnaryMethod, unary } from "../wire/node-methods.ts";

/** Implements `sui.rpc.v2.MovePackageService`: the signatures of the functions that this node executes. */
export function movePackageService(
  functions: FunctionTable,
  objects: Pick<ObjectStore, "get">,
): readonly UnaryMethod[] {
  return [
    unary(
      GrpcTypes.MovePackageService,
      "GetFunction",
      GrpcTypes.GetFunctionRequest,
      GrpcTypes.GetFunctionResponse,
      (request) => {
        const packageId = parseAddress(request.packageId, "package_id");
        const name = `${request.moduleName}::${request.name}`;
        const target = lookUpFunction(functions, packageId, name, (id) => objects.get(id)?.type);
        if (target === undefined)
          throw new RpcFailure(Status.NotFound, `Function ${packageId}::${name.slice(0, 150)} not found`);
        return { function: describe(target) };
      },
    ),
  ];
}

type TypeTag = ReturnType<typeof TypeTagSerializer.parseFromStr>;

const BodyType = GrpcTypes.OpenSignatureBody_Type;

function describe(target: MoveFunction): GrpcTypes.FunctionDescriptor {
  return {
    name: target.name,
    visibility: GrpcTypes.FunctionDescriptor_Visibility.PUBLIC,
    isEntry: false,
    typeParameters: Array.from({ length: target.typeParameterCount }, () => ({
      constraints: [],
      isPhantom: false,
    })),
    parameters: target.parameters.map((parameter) => signature(parameter.type, parameter.reference)),
    returns: target.returns.map((type) => signature(type, "value")),
  };
}

function signature(type: string, reference: Reference): GrpcTypes.OpenSignature {
  const body = signatureBody(type);
  switch (reference) {
    case "value":
      return { body };
    case "immutable":
      return { body, reference: GrpcTypes.OpenSignature_Reference.IMMUTABLE };
    case "mutable":
      return { body, reference: GrpcTypes.OpenSignature_Reference.MUTABLE };
  }
}

function signatureBody(type: string): GrpcTypes.OpenSignatureBody {
  if (type === "$0")
    return { type: BodyType.TYPE_PARAMETER, typeParameter: 0, typeParameterInstantiation: [] };
  const generic = /^(.*)<\$0>$/.exec(type);
  if (generic !== null) {
    return {
      type: BodyType.DATATYPE,
      typeName: generic[1] as string,
      typeParameterInstantiation: [signatureBody("$0")],
    };
  }
  return tagBody(TypeTagSerializer.parseFromStr(type, true));
}

function tagBody(tag: TypeTag): GrpcTypes.OpenSignatureBody {
  if ("vector" in tag) return { type: BodyType.VECTOR, typeParameterInstantiation: [tagBody(tag.vector)] };
  if ("struct" in tag) {
    const { address, module, name, typeParams } = tag.struct;
    return {
      type: BodyType.DATATYPE,
      typeName: `${address}::${module}::${name}`,
      typeParameterInstantiation: typeParams.map(tagBody),
    };
  }
  return { type: primitiveType(tag), typeParameterInstantiation: [] };
}

function primitiveType(tag: TypeTag): GrpcTypes.OpenSignatureBody_Type {
  if ("address" in tag) return BodyType.ADDRESS;
  if ("bool" in tag) return BodyType.BOOL;
  if ("u8" in tag) return BodyType.U8;
  if ("u16" in tag) return BodyType.U16;
  if ("u32" in tag) return BodyType.U32;
  if ("u64" in tag) return BodyType.U64;
  if ("u128" in tag) return BodyType.U128;
  return BodyType.U256;
}
