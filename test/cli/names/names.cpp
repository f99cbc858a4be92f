// Names that a linker mangles. build.sh builds names.so and writes down what c++filt makes of them.
namespace shop {
template <typename T> struct Stack {
  T items[4];
  int top;
  Stack() : top(0) {}
  void push(const T &item) { items[top++ & 3] = item; }
  T &operator[](int i) { return items[i & 3]; }
  ~Stack() {}
};
struct Price { int cents; operator int() const { return cents; } };
template struct Stack<Price>;
template struct Stack<char *>;
int sum(const Price *prices, unsigned long count, ...) { int s = 0; while (count--) s += prices[count]; return s; }
namespace { int hidden(double d) { return (int)d; } }
int (*choose(bool))(double) { return hidden; }
}
extern "C" int plain(int x) { return x; }
