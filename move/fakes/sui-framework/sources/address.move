module sui::address;

public native fun from_bytes(bytes: vector<u8>): address;
