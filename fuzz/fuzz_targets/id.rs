#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| throughline_fuzz::targets::fuzz_id(data));
