//! Makes a key and signs with it, through a signer on this machine. README.md says how to run it.
use std::{env, error::Error, fs, time::Duration};

use prost::Message;
use ring::signature::{UnparsedPublicKey, ED25519};
use tss::signer::v1::{sign_request::Payload, CreateKeyRequest, Key, RawMessage, SignRequest, SignResponse};
use tss::v1::{Curve, Hash, SignatureAlgorithm};

/// The contract, from the build script. This program uses a part of it.
#[allow(dead_code)]
mod tss {
    pub mod v1 {
        include!(concat!(env!("OUT_DIR"), "/tss.v1.rs"));
    }
    pub mod signer {
        pub mod v1 {
            include!(concat!(env!("OUT_DIR"), "/tss.signer.v1.rs"));
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let url = env::var("SIGNER_URL").unwrap_or("http://127.0.0.1:8420".into());
    let token = fs::read_to_string(env::var("SIGNER_TOKEN_FILE").unwrap_or("token".into()))?;
    let signer = Signer { url, authorization: format!("Bearer {}", token.trim()) };

    // The same name returns the same key, so that this also runs after a crash.
    let wanted =
        CreateKeyRequest { name: "payouts".into(), curve: Curve::Ed25519.into(), ..Default::default() };
    let key: Key = signer
        .call("CreateKey", &wanted)
        .map_err(|reason| format!("no key: {reason}"))?;
    println!("key {}", hex::encode(key.public_key()));

    let message = b"pay 5 to erin".to_vec();
    let mut request = SignRequest {
        name: key.name.clone(),
        payload: Some(Payload::Raw(RawMessage {
            message: message.clone(),
            signature_algorithm: SignatureAlgorithm::EdDsa.into(),
            hash_scheme: Hash::Sha512.into(),
        })),
        // The same idempotency key returns the same signature, for one charge.
        idempotency_key: "payment-5".into(),
    };
    let signed: SignResponse =
        signer.call("Sign", &request).map_err(|reason| format!("no signature: {reason}"))?;
    println!("signature {}", hex::encode(&signed.signature));
    let verified = UnparsedPublicKey::new(&ED25519, key.public_key()).verify(&message, &signed.signature);
    println!("verified {}", verified.is_ok());

    // Every error has a machine-readable reason.
    request.name = "unknown".into();
    match signer.call::<_, SignResponse>("Sign", &request) {
        Ok(_) => Err("the key should not exist".into()),
        Err(reason) => Ok(println!("error {reason}")),
    }
}

/// Calls the signer by the Connect protocol: a POST whose body and reply are the contract's messages.
struct Signer {
    url: String,
    authorization: String,
}

impl Signer {
    /// Calls a method. Returns the reason of a refused call, such as KEY_NOT_FOUND.
    fn call<I: Message, O: Message + Default>(&self, method: &str, request: &I) -> Result<O, String> {
        let reply = ureq::post(&format!("{}/tss.signer.v1.Signer/{method}", self.url))
            .set("authorization", &self.authorization)
            .set("content-type", "application/proto")
            // A new key takes longer than a call on the service does.
            .timeout(Duration::from_secs(300))
            .send_bytes(&request.encode_to_vec());
        match reply {
            Ok(reply) => {
                let mut body = Vec::new();
                reply.into_reader().read_to_end(&mut body).map_err(|error| error.to_string())?;
                O::decode(body.as_slice()).map_err(|error| error.to_string())
            }
            Err(ureq::Error::Status(_, reply)) => {
                let error: ureq::serde_json::Value = reply.into_json().map_err(|error| error.to_string())?;
                // The first detail is the ErrorInfo, in clear text and encoded.
                let reason = error["details"][0]["debug"]["reason"].as_str().or(error["code"].as_str());
                Err(reason.unwrap_or("unknown").to_string())
            }
            Err(error) => Err(error.to_string()),
        }
    }
}
