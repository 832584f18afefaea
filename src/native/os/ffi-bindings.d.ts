// Types of the native part of ffi-napi. Its functions call this part, but its own types do not describe it.
declare module 'ffi-napi/lib/bindings.js' {
  const bindings: {
    /** Calls `symbol`: `places` holds the address of each argument, and `result` takes 8 bytes. */
    ffi_call(interface_: Buffer, symbol: Buffer, result: Buffer, places: Buffer): void;
  };
  export default bindings;
}
