// Stacks of one thread of the CPU that take turns.
#pragma once

#include <ucontext.h>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

#include <cstddef>
#include <cstdint>

namespace fibers {

// A stack, and where on it to go on. AddressSanitizer is told of every switch.
class Context {
 public:
  // Goes on where `to` left off; returns when something switches back.
  void switchTo(Context& to) {
#ifdef __SANITIZE_ADDRESS__
    void* kept = nullptr;
    to.from_ = this;
    __sanitizer_start_switch_fiber(&kept, to.stack_, to.bytes_);
#endif
    goTo(to);
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(kept, nullptr, nullptr);
#endif
  }
  // `to` will call `function(argument)`, which must not return, on this stack.
  static void begin(Context& to, uint8_t* stack, size_t bytes, void (*function)(void*),
                    void* argument) {
    to.stack_ = stack, to.bytes_ = bytes, to.function_ = function, to.argument_ = argument;
    to.makeReady(stack);
  }

 private:
  static void call(Context* self) {
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(nullptr, &self->from_->stack_, &self->from_->bytes_);
#endif
    self->function_(self->argument_);
  }

#if defined(__x86_64__)
  // swapcontext() would ask the kernel for the mask of signals twice a switch, a third of the time
  // that emulated blocks take.
  void goTo(Context& to) { switchStacks(&top_, to.top_); }
  void makeReady(uint8_t* stack) {
    const auto end = reinterpret_cast<uintptr_t>(stack + bytes_) & ~uintptr_t{15};
    auto* top = reinterpret_cast<void**>(end) - 7;           // six registers, the return address
    top[2] = this, top[3] = reinterpret_cast<void*>(&call);  // r13, r12
    top[6] = reinterpret_cast<void*>(&enter);
    top_ = top;
  }
  // The registers that a function keeps for its caller (System V AMD64 ABI, section 3.2.1).
  __attribute__((naked, noinline)) static void switchStacks(void** /*from*/, void* /*to*/) {
    asm("pushq %rbp\n pushq %rbx\n pushq %r12\n pushq %r13\n pushq %r14\n pushq %r15\n"
        "movq %rsp, (%rdi)\n movq %rsi, %rsp\n"
        "popq %r15\n popq %r14\n popq %r13\n popq %r12\n popq %rbx\n popq %rbp\n ret");
  }
  __attribute__((naked, noinline)) static void enter() {
    asm("movq %r13, %rdi\n call *%r12\n ud2");
  }
  void* top_ = nullptr;
#else
  void goTo(Context& to) { swapcontext(&context_, &to.context_); }
  void makeReady(uint8_t* stack) {
    getcontext(&context_);
    context_.uc_stack.ss_sp = stack;
    context_.uc_stack.ss_size = bytes_;
    context_.uc_link = nullptr;
    const auto self = reinterpret_cast<uintptr_t>(this);
    makecontext(&context_, reinterpret_cast<void (*)()>(&Context::enter), 2,
                static_cast<unsigned>(self >> 32), static_cast<unsigned>(self));
  }
  static void enter(unsigned high, unsigned low) {
    call(reinterpret_cast<Context*>(static_cast<uintptr_t>(high) << 32 | low));
  }
  ucontext_t context_;
#endif
  // Of the thread itself as AddressSanitizer tells them when it is left.
  const void* stack_ = nullptr;
  size_t bytes_ = 0;
  void (*function_)(void*) = nullptr;
  void* argument_ = nullptr;
  [[maybe_unused]] Context* from_ = nullptr;
};

}  // namespace fibers
