{
  "targets": [
    {
      "target_name": "blockscope",
      "sources": [
        "<!@(node -p \"['core', 'cpu', 'quantize', 'cuda', 'hip', 'addon'].flatMap((d) => fs.existsSync(d) && (d !== 'cuda' || fs.existsSync('cuda/backend.cpp')) ? fs.readdirSync(d).filter((f) => f.endsWith('.cpp')).map((f) => d + '/' + f) : []).join(' ')\")"
      ],
      "include_dirs": [
        "<!(node -p \"require('node-addon-api').include_dir\")",
        "<(INTERMEDIATE_DIR)",
        "../resources/kernels/cuda"
      ],
      "actions": [
        {
          "action_name": "source_hash",
          "variables": {
            "hashed": [
              "<!@(node -p \"['core', 'cpu'].flatMap((d) => fs.readdirSync(d).map((f) => d + '/' + f)).join(' ')\")",
              "<!@(node -p \"['form', 'number', 'sum'].map((f) => '../resources/kernels/cuda/common/blockScale/' + f + '.cuh').join(' ')\")"
            ]
          },
          "inputs": ["sourceHash.mjs", "<@(hashed)"],
          "outputs": ["<(INTERMEDIATE_DIR)/sourceHash.h"],
          "action": ["node", "sourceHash.mjs", "<@(_outputs)", "<@(hashed)"]
        }
      ],
      "defines": [
        "NAPI_VERSION=9",
        "NODE_ADDON_API_CPP_EXCEPTIONS_ALL",
        "NAPI_CPP_EXCEPTIONS",
        "NODE_ADDON_API_DISABLE_DEPRECATED",
        "NODE_API_NO_EXTERNAL_BUFFERS_ALLOWED"
      ],
      "cflags!": ["-fno-exceptions"],
      "cflags_cc!": ["-fno-exceptions", "-fno-rtti", "-std=gnu++17", "-std=gnu++20"],
      "cflags_cc": [
        "-std=c++20", "-O3", "-ffp-contract=off", "-fvisibility=hidden", "-Wall", "-Wextra", "-Wno-maybe-uninitialized",
        "<!@(node -p \"process.env.BLOCKSCOPE_WERROR ? '-Werror' : ''\")"
      ],
      "conditions": [
        ["OS=='linux'", { "libraries": ["-ldl", "-lpthread"], "ldflags": ["-Wl,--exclude-libs,ALL"] }],
        [
          "OS=='mac'",
          {
            "xcode_settings": {
              "GCC_ENABLE_CPP_EXCEPTIONS": "YES",
              "GCC_ENABLE_CPP_RTTI": "YES",
              "CLANG_CXX_LANGUAGE_STANDARD": "c++20",
              "GCC_SYMBOLS_PRIVATE_EXTERN": "YES",
              "OTHER_CPLUSPLUSFLAGS": ["-ffp-contract=off"],
              "MACOSX_DEPLOYMENT_TARGET": "12.0"
            }
          }
        ],
        [
          "OS=='win'",
          {
            "msvs_settings": {
              "VCCLCompilerTool": { "ExceptionHandling": 1, "AdditionalOptions": ["/std:c++20"] }
            },
            "defines": ["_USE_MATH_DEFINES", "NOMINMAX"]
          }
        ]
      ]
    }
  ],
  "conditions": [
    [
      "OS=='linux'",
      {
        "targets": [
          {
            "target_name": "blockscope_inject",
            "type": "loadable_module",
            "sources": [
              "cuda/librarySearch.cpp",
              "<!@(node -p \"fs.readdirSync('inject').filter((f) => f.endsWith('.cpp')).map((f) => 'inject/' + f).join(' ')\")"
            ],
            "cflags!": ["-fno-exceptions"],
            "cflags_cc!": ["-fno-exceptions", "-fno-rtti", "-std=gnu++17", "-std=gnu++20"],
            "cflags_cc": [
              "-std=c++20", "-O2", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra",
              "<!@(node -p \"process.env.BLOCKSCOPE_WERROR ? '-Werror' : ''\")"
            ],
            "libraries": ["-ldl", "-lpthread"],
            "ldflags": [
              "-static-libstdc++", "-static-libgcc", "-Wl,-z,nodelete",
              "-Wl,--version-script=<(module_root_dir)/inject/exports.ld"
            ]
          }
        ]
      }
    ]
  ]
}
