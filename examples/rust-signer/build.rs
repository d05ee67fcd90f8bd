// Generates the messages of the signer's contract. It needs protoc.
fn main() -> std::io::Result<()> {
    let root = "../..";
    prost_build::compile_protos(
        &[format!("{root}/proto/tss/signer/v1/signer.proto")],
        &[format!("{root}/proto"), format!("{root}/third_party")],
    )
}
